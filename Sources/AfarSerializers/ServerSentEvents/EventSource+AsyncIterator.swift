public import AfarCore
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension EventSource {
    /// One iteration, with a connection of its own.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private let source: EventSource
        private let memory: EventSourceMemory
        private var connection: DataStreamTask.Stream<ServerSentEvent, AFError>.Iterator?
        /// How many connections in a row have brought no event.
        private var failures = 0
        /// Whether the server has answered at all.
        private var hasAnswered = false
        private var isOver = false

        init(_ source: EventSource) {
            self.source = source
            memory = EventSourceMemory(lastEventID: source.lastEventID)
        }

        /// The next event, or nil when there will be none.
        ///
        /// - Throws: What ends the events; it is nil from then on.
        public mutating func next() async throws(AFError) -> ServerSentEvent? { try await next(isolation: nil) }

        /// The next event, or nil when there will be none.
        ///
        /// - Throws: What ends the events; it is nil from then on.
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(AFError) -> ServerSentEvent? {
            while !isOver {
                if connection == nil {
                    failures += 1
                    connection = source.connect(remembering: memory).makeAsyncIterator()
                }
                switch await connection?.next(isolation: actor)?.event {
                case .stream(.success(let event)):
                    failures = 0
                    hasAnswered = true
                    return event
                case .stream(.failure(let error)):
                    end()
                    throw error
                case .complete(let completion):
                    connection = nil
                    guard try mayReconnect(after: completion), await source.hasWaited(delay) else { return end() }
                case nil: return end()
                }
            }
            return nil
        }

        @discardableResult
        private mutating func end() -> ServerSentEvent? {
            isOver = true
            connection = nil
            return nil
        }

        /// Whether there may be another connection.
        private mutating func mayReconnect(after completion: DataStreamRequest.Completion) throws(AFError) -> Bool {
            hasAnswered = hasAnswered || completion.response != nil
            if let error = completion.error, !error.mayBeMendedByConnecting(again: hasAnswered) || isLastFailure {
                end()
                throw error
            }
            return !isLastFailure && completion.response?.statusCode != 204
        }

        private var isLastFailure: Bool {
            guard failures > 0, let maximum = source.reconnection.maximumFailures else { return false }
            return failures >= maximum
        }

        private var delay: Duration {
            source.reconnection.delay(after: failures, told: memory.reconnectionTime, chance: .random(in: 0...1))
        }
    }
}

extension AFError {
    /// Whether the network has failed, and may not the next time.
    ///
    /// - Parameter hasAnswered: Whether the server has answered before.
    fileprivate func mayBeMendedByConnecting(again hasAnswered: Bool) -> Bool {
        guard case .sessionTaskFailed(let error as URLError) = self else { return false }
        switch error.code {
        case .serverCertificateHasBadDate, .serverCertificateNotYetValid: return false
        // A server that has answered before has broken down; another one speaks no HTTP, or no TLS.
        case .badServerResponse, .secureConnectionFailed: return hasAnswered
        default: return RetryPolicy.defaultRetryableURLErrorCodes.contains(error.code)
        }
    }
}
