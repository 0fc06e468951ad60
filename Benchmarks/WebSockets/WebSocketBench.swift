import Afar
import Foundation
import Measurement
import Servers

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Measures how many messages per second an echo server returns over one WebSocket. Afar and Python's aiohttp take
/// turns as the client.
///
/// The server uses aiohttp in a separate process, which shares the machine's processors with the client.
@main struct WebSocketBench {
    private static let message = String(repeating: "x", count: 100)
    private static let count = 60_000
    private static let warmUp = 5_000
    private static let rounds = 3

    /// The result of a run.
    private struct Run: Decodable {
        let seconds: Double
        let cpuSeconds: Double
    }

    static func main() async throws {
        Cleanup.shared.watchSignals()
        defer { Cleanup.shared.finish() }
        // The system's Python, for which Debian's packages are installed.
        let (python, port) = (URL(filePath: "/usr/bin/python3"), try LoopbackPort.unused())
        let scripts = URL(filePath: #filePath).deletingLastPathComponent()
        let server = Process()
        server.executableURL = python
        server.arguments = [scripts.appending(path: "echo-server.py").path, "\(port)"]
        try server.run()
        Cleanup.shared.add(server)
        while !LoopbackPort.accepts(port) {
            guard server.isRunning else { throw Failure("the server exited; check that python3-aiohttp is installed") }
            usleep(10_000)
        }
        let url = "ws://127.0.0.1:\(port)/echo"
        var rows: [[String]] = []
        for window in [1, 64] {
            var (ours, theirs): ([Run], [Run]) = ([], [])
            for _ in 0..<rounds {
                ours.append(try await exchange(with: url, window: window))
                let output = try Executable.run(
                    python,
                    [scripts.appending(path: "echo-client.py").path, url, "\(count)", "\(warmUp)", "\(window)"])
                theirs.append(try JSONDecoder().decode(Run.self, from: output))
            }
            rows += [row("Afar", window, ours), row("aiohttp", window, theirs)]
        }
        print("\nMessages of 100 bytes and their echoes over one WebSocket, the best of \(rounds) runs of \(count)")
        print(Table(columns: ["client", "on their way", "messages/s", "CPU µs"], rows: rows).text)
    }

    private static func exchange(with url: String, window: Int) async throws -> Run {
        let session = Session(configuration: .default)
        let socket = session.webSocketRequest(to: url).webSocketTask()
        var messages = socket.messages.makeAsyncIterator()
        try await exchange(warmUp, over: socket, &messages, window: window)
        let start = Usage.now
        try await exchange(count, over: socket, &messages, window: window)
        let end = Usage.now
        socket.close(sending: .normalClosure)
        while try await messages.next() != nil {}
        return Run(seconds: end.seconds - start.seconds, cpuSeconds: end.cpuSeconds - start.cpuSeconds)
    }

    private static func exchange(
        _ count: Int, over socket: WebSocketTask, _ messages: inout WebSocketMessages.Iterator, window: Int
    ) async throws {
        var sent = min(window, count)
        for _ in 0..<sent { try await socket.send(.string(message)) }
        for _ in 0..<count {
            guard case .string(let echo)? = try await messages.next(), echo == message else {
                throw Failure("the echo differs from the message")
            }
            guard sent < count else { continue }
            try await socket.send(.string(message))
            sent += 1
        }
    }

    private static func row(_ client: String, _ window: Int, _ runs: [Run]) -> [String] {
        let seconds = runs.map(\.seconds).min() ?? 1
        let cpu = (runs.map(\.cpuSeconds).min() ?? 0) / Double(count)
        return [client, "\(window)", "\(Int(Double(count) / seconds))", String(format: "%.1f", cpu * 1e6)]
    }
}
