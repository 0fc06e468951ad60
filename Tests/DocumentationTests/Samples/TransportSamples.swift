import Afar
import Foundation
import HTTPTypes
import Synchronization

struct Rerouted: Transport {
    let base: any Transport
    let host: String
    let authority: String

    var capabilities: TransportCapabilities { base.capabilities }

    func send(_ exchange: Exchange) async throws -> TransportResponse {
        var exchange = exchange
        if exchange.request.authority == host {
            exchange.request.scheme = "http"
            exchange.request.authority = authority
        }
        return try await base.send(exchange)
    }
}

struct Marked: CallbackTransport {
    let base: any CallbackTransport

    var capabilities: TransportCapabilities { base.capabilities }

    func prepare(_ hop: Hop) throws -> any PreparedExchange {
        var exchange = hop.exchangeToSend
        exchange.request.headerFields[.userAgent] = "marked"
        return try base.prepare(Hop(exchange, insteadOf: hop))
    }
}

struct Teapot: Transport {
    let capabilities = TransportCapabilities(name: "teapot", features: [])

    func send(_ exchange: Exchange) async throws -> TransportResponse {
        try capabilities.check(exchange)
        let head = ResponseHead(status: 418, fields: [.contentType: "text/plain"], url: exchange.url)
        return TransportResponse(head: head, body: .data(Data("short and stout".utf8)))
    }
}

final class QueueTransport: CallbackTransport {
    let capabilities = TransportCapabilities(name: "queue", features: [])
    private let queue = DispatchQueue(label: "example.transport")

    func prepare(_ hop: Hop) throws -> any PreparedExchange {
        let exchange = hop.exchangeToSend
        try capabilities.check(exchange)
        return Running(exchange, on: queue)
    }

    private final class Running: PreparedExchange {
        typealias Completion = @Sendable (Result<TransportResponse, any Error>) -> Void
        private enum State { case prepared, started(Completion), ended }

        private let exchange: Exchange
        private let queue: DispatchQueue
        private let state = Mutex(State.prepared)

        init(_ exchange: Exchange, on queue: DispatchQueue) { (self.exchange, self.queue) = (exchange, queue) }

        func start(completion: @escaping Completion) {
            let isCancelled = state.withLock { state in
                guard case .prepared = state else { return true }
                state = .started(completion)
                return false
            }
            guard !isCancelled else { return completion(.failure(failure(.cancelled, "it was cancelled"))) }
            queue.asyncAfter(deadline: .now() + exchange.options.totalTimeout) { [self] in
                end(with: .failure(failure(.timedOut, "the total timeout passed")))
            }
            queue.async { [self] in
                let head = ResponseHead(status: 200, fields: [.contentType: "text/plain"], url: exchange.url)
                switch exchange.headArrived(head) {
                case .deferred(let pending): pending.whenDecided { [self] decision in respond(head, decision) }
                case let decision: respond(head, decision)
                }
            }
        }

        private func respond(_ head: ResponseHead, _ decision: HeadDecision) {
            switch decision {
            case .take: end(with: .success(TransportResponse(head: head, body: .data(Data("hello".utf8)))))
            case .discard: end(with: .success(TransportResponse(head: head, body: .data(Data()))))
            case .refuse(let error): end(with: .failure(failure(.cancelled, "the head was refused", error)))
            case .deferred: break  // whenDecided(_:) never passes this.
            }
        }

        func cancel() { end(with: .failure(failure(.cancelled, "it was cancelled"))) }

        private func end(with result: Result<TransportResponse, any Error>) {
            let completion = state.withLock { state -> Completion? in
                defer { state = .ended }
                if case .started(let completion) = state { return completion } else { return nil }
            }
            completion?(result)
        }

        private func failure(
            _ code: TransportError.Code, _ message: String, _ cause: (any Error)? = nil
        ) -> TransportError {
            TransportError(code, phase: .queued, url: exchange.url, message: message, underlying: cause)
        }
    }
}
