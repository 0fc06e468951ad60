import Afar
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Runs the test cases of Autobahn's fuzzing server, which expects an echo of each message.
///
///     AutobahnProbe ws://127.0.0.1:9001
@main
enum AutobahnProbe {
    static func main() async throws {
        let server = CommandLine.arguments.dropFirst().first ?? "ws://127.0.0.1:9001"
        let session = Session(configuration: .default)
        var count = 0
        for try await message in socket(session, "\(server)/getCaseCount").messages {
            if case .string(let text) = message { count = Int(text) ?? 0 }
        }
        for number in 1...max(1, count) {
            let socket = socket(session, "\(server)/runCase?case=\(number)&agent=Afar")
            do {
                for try await message in socket.messages { try await socket.send(message) }
            } catch {
                // Half of the cases test connections that must fail.
            }
            if number % 50 == 0 { print("\(number) of \(count)") }
        }
        for try await _ in socket(session, "\(server)/updateReports?agent=Afar").messages {}
        print("\(count) cases")
    }

    private static func socket(_ session: Session, _ url: String) -> WebSocketTask {
        session.webSocketRequest(to: url, configuration: .maximumMessageSize(64 << 20)).webSocketTask()
    }
}
