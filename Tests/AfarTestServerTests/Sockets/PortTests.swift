import AfarTestServer
import Foundation
import Testing

@Suite(.timeLimit(.minutes(1)))
struct PortTests {
    @Test func aClosedPortRefusesConnections() async throws {
        let port = try ClosedPort()
        let failure = await #expect(throws: Curl.Failed.self) { try await Curl.get(port.url) }
        #expect(failure?.exitCode == 7)
        #expect(port.url.port == Int(port.number))
    }

    @Test func connectingToAnUnacceptingPortNeverCompletes() async throws {
        let port = try UnacceptingPort()
        let failure = await #expect(throws: Curl.Failed.self) {
            try await Curl.get(port.url, "--connect-timeout", "0.3")
        }
        #expect(failure?.exitCode == 28)
        #expect(failure?.message.contains("onnect") == true)
    }

    @Test func aSocketFailureNamesItsCause() throws {
        let port = try ClosedPort()
        let failure = #expect(throws: SocketFailure.self) { try Client(port: Int(port.number)) }
        #expect(failure?.description == "connect: Connection refused (errno 111)")
    }
}
