import AfarTesting
import Testing
import Weather

@Test(.replay("lima"))
func itIsWarmInLima() async throws {
    #expect(try await Weather.now(in: "Lima").degrees > 0)
}
