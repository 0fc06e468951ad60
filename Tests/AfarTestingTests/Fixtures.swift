import AfarCore
import AfarTesting
import Foundation
import HTTPTypes

extension Exchange {
    /// Creates a GET request with modifications.
    static func to(_ path: String, _ change: (inout Exchange) -> Void = { _ in }) -> Exchange {
        var exchange = Exchange(
            request: HTTPRequest(method: .get, scheme: "http", authority: "mock.test", path: path))
        change(&exchange)
        return exchange
    }
}

extension RequestBodyStream {
    /// Creates a body from chunks.
    static func of(_ chunks: [String], length: Int64? = nil) -> RequestBodyStream {
        RequestBodyStream(length: length, isReplayable: true) {
            let rest = Locked(chunks[...])
            return { rest.withLock { $0.popFirst().map { Data($0.utf8) } } }
        }
    }
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

/// Returns when a condition is met. The function polls, because no event signals the change.
func eventually(_ condition: () -> Bool) async {
    while !condition() { try? await Task.sleep(for: .milliseconds(1)) }
}

struct Unexpected: Error {
    var what: String
}

/// An observer that records events.
final class Recorder: ExchangeObserver {
    let events = Locked<[String]>([])

    func exchangeDidReceiveInformational(_ head: ResponseHead) { events.withLock { $0.append("info \(head.status)") } }
    func exchangeDidReceiveHead(_ head: ResponseHead) { events.withLock { $0.append("head \(head.status)") } }
    func exchangeDidSend(bytes: Int64, expected: Int64?) { events.withLock { $0.append("sent \(bytes)") } }
    func exchangeDidReceive(bytes: Int64, expected: Int64?) {
        events.withLock { $0.append("received \(bytes)/\(expected ?? -1)") }
    }
}

/// A gate at which tasks wait until it opens.
actor Gate {
    private var isOpen = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    func open() {
        isOpen = true
        waiting.forEach { $0.resume() }
        waiting = []
    }

    func pass() async {
        if !isOpen { await withCheckedContinuation { waiting.append($0) } }
    }
}

/// A session that stands for one with network access. If its transport isn't replaced, requests fail.
let live = Session(transport: MockTransport { _ in .failure(.notConnected) })
