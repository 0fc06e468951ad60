import AfarCore
import AfarTransport
import Foundation

#if canImport(Combine)
    import Combine
#else
    import OpenCombine
#endif

#if !Publishers
    #error("AfarPublishers needs the package trait Publishers: .package(url: …, traits: [.defaults, \"Publishers\"])")
#endif

/// A subscription to a request. The first demand resumes the request, and canceling the subscription cancels the request.
final class RequestSubscription<Output>: Subscription, @unchecked Sendable {
    // Sendable because the lock protects the state, and the subscriber is called serially on one queue.

    private struct State {
        var receive: ((Output) -> Void)?
        var finish: (() -> Void)?
        var start: ((RequestSubscription) -> Void)?
    }

    private let request: Request
    private let lock = NSLock()
    private var state: State

    /// - Parameter start: A closure that adds a handler to the request. It's called once, on the first demand.
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

    /// Clears the state and returns the former state. The caller releases it outside the lock, because the release of a
    /// subscriber can cancel the subscription.
    private func end() -> State {
        lock.withLock {
            let former = state
            state = State()
            return former
        }
    }
}

extension Publisher {
    /// Returns a publisher for the values. It fails with the first failure.
    func unwrapped<Value>() -> AnyPublisher<Value, AFError> where Output == Result<Value, AFError>, Failure == Never {
        setFailureType(to: AFError.self).flatMap { result -> AnyPublisher<Value, AFError> in
            switch result {
            case .success(let value): Just(value).setFailureType(to: AFError.self).eraseToAnyPublisher()
            case .failure(let error): Fail(error: error).eraseToAnyPublisher()
            }
        }.eraseToAnyPublisher()
    }
}
