import AfarTesting
import Testing
import Weather

@Test(.stubs(Stub(.get, "https://weather.example/now?city=Oslo", .json(text: #"{"city":"Oslo","degrees":-3.5}"#))))
func itIsColdInOslo() async throws {
    #expect(try await Weather.now(in: "Oslo").degrees < 0)
}
