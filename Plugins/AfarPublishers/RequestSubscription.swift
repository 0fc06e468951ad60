import AfarCore
import AfarTransport
import Foundation

#if canImport(Combine)
    import Combine
#else
    import OpenCombine
#endif

#if !Publishers
    #error("AfarPublishers needs the package trait Publishers: .package(url: …, traits: [\"Publishers\"])")
#endif

/// A subscriber's hold on a request: the first demand resumes it, and cancelling cancels it.
final class RequestSubscription<Output>: Subscription, @unchecked Sendable {
    // Sendable because all that changes is under the lock, and the subscriber is called on one queue, one call at a time.

    private struct State {
        var receive: ((Output) -> Void)?
        var finish: (() -> Void)?
        var start: ((RequestSubscription) -> Void)?
    }

    private let request: Request
    private let lock = NSLock()
    private var state: State

    /// - Parameter start: Called once, on the first demand. It adds a handler to the request.
    init<Downstream: Subscriber>(
        _ downstream: Downstream, to request: Request, start: @escaping (RequestSubscription) -> Void
    ) where Downstream.Input == Output, Downstream.Failure == Never {
        self.request = request
        state = State(
            receive: { _ = downstream.receive($0) }, finish: { downstream.receive(completion: .finished) }, start: start
        )
    }

    func request(_ demand: Subscribers.Demand) {
        guard demand > .none, let start = lock.withLock({ state.start.take() }) else { return }
        start(self)
        request.resume()
    }

    func cancel() {
        if end().receive != nil { request.cancel() }
    }

    func deliver(_ output: Output) { lock.withLock { state.receive }?(output) }

    func finish() { end().finish?() }

    /// What there was, to be released when the lock is free: a subscriber that goes may cancel.
    private func end() -> State {
        lock.withLock {
            let former = state
            state = State()
            return former
        }
    }
}

extension Publisher {
    /// The values, and the first failure as the publisher's.
    func unwrapped<Value>() -> AnyPublisher<Value, AFError> where Output == Result<Value, AFError>, Failure == Never {
        setFailureType(to: AFError.self).flatMap { result -> AnyPublisher<Value, AFError> in
            switch result {
            case .success(let value): Just(value).setFailureType(to: AFError.self).eraseToAnyPublisher()
            case .failure(let error): Fail(error: error).eraseToAnyPublisher()
            }
        }.eraseToAnyPublisher()
    }
}
