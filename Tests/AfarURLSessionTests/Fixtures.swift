import AfarCore
import Foundation
import HTTPTypes

extension Exchange {
    /// Creates a GET request to a test server, with modifications.
    static func get(_ server: ScriptedServer, _ change: (inout Exchange) -> Void = { _ in }) -> Exchange {
        var exchange = Exchange(
            request: HTTPRequest(method: .get, scheme: "http", authority: "127.0.0.1:\(server.port)", path: "/"))
        exchange.context[ServerKey.self] = server
        change(&exchange)
        return exchange
    }

    /// Creates a POST request to a test server, with modifications.
    static func post(
        _ server: ScriptedServer, _ body: RequestBody, _ change: (inout Exchange) -> Void = { _ in }
    ) -> Exchange {
        get(server) {
            $0.request.method = .post
            $0.body = body
            change(&$0)
        }
    }
}

/// Retains the server during an exchange.
private struct ServerKey: ExchangeContextKey {
    static let defaultValue: ScriptedServer? = nil
}

extension TransportResponse {
    var text: String? {
        if case .data(let data) = body { String(decoding: data, as: UTF8.self) } else { nil }
    }
}

/// Returns the transport's error if `work` fails.
func failure(of work: () async throws -> Void) async -> TransportError? {
    do {
        try await work()
        return nil
    } catch {
        return error as? TransportError
    }
}

/// An observer that records events.
final class Recorder: ExchangeObserver {
    let events = Locked<[String]>([])

    func exchangeDidReceiveInformational(_ head: ResponseHead) { events.withLock { $0.append("info \(head.status)") } }
    func exchangeDidReceiveHead(_ head: ResponseHead) { events.withLock { $0.append("head \(head.status)") } }
    func exchangeDidSend(bytes: Int64, expected: Int64?) {
        events.withLock { $0.append("sent \(bytes)/\(expected ?? -1)") }
    }
    func exchangeDidReceive(bytes: Int64, expected: Int64?) {
        events.withLock { $0.append("received \(bytes)/\(expected ?? -1)") }
    }
}

/// Returns when a condition is met. The function polls, because no event signals the change.
func eventually(_ condition: () -> Bool) async {
    while !condition() { try? await Task.sleep(for: .milliseconds(1)) }
}

/// A sparse file that contains only zeros.
final class TemporaryFile: Sendable {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent("afar-\(UUID().uuidString)")

    init(count: UInt64) throws {
        try Data().write(to: url)
        try FileHandle(forWritingTo: url).truncate(atOffset: count)
    }

    deinit { try? FileManager.default.removeItem(at: url) }
}

struct Unexpected: Error {
    var what: String
}
