import Foundation

/// A type that provides the evaluator for each host's certificates.
///
/// If ``allHostsMustBeEvaluated`` is true, requests to a host without an evaluator fail. If it is false, the transport performs
/// its default validation for such a host. Pass a manager to ``Session``.
open class ServerTrustManager: @unchecked Sendable {
    // @unchecked because it is immutable.

    /// Whether requests to a host without an evaluator fail.
    public let allHostsMustBeEvaluated: Bool
    /// The evaluators by host.
    public let evaluators: [String: any ServerTrustEvaluating]
    private let evaluatorsByName: [HostName: any ServerTrustEvaluating]

    /// Creates a manager.
    ///
    /// - Parameters:
    ///   - allHostsMustBeEvaluated: Whether a request to a host without an evaluator fails, before it is sent. The default is
    ///     true.
    ///   - evaluators: The evaluators by host: names or addresses, with international names in ASCII form ("xn--…"). Case and
    ///     ports are ignored. Wildcards aren't supported; to implement them, override ``serverTrustEvaluator(forHost:)``.
    public init(allHostsMustBeEvaluated: Bool = true, evaluators: [String: any ServerTrustEvaluating]) {
        self.allHostsMustBeEvaluated = allHostsMustBeEvaluated
        self.evaluators = evaluators
        evaluatorsByName = Dictionary(
            evaluators.map { (HostName($0.key), $0.value) },
            // If a host is listed in two spellings, both evaluators must trust it.
            uniquingKeysWith: { CompositeTrustEvaluator(evaluators: [$0, $1]) })
    }

    /// Returns the evaluator for a host. If nil, the transport performs its default validation.
    ///
    /// An override is called for each request, including requests after redirects, in a task of the request. Return the same
    /// object as long as the rules stay the same, because connections opened for another evaluator aren't reused.
    ///
    /// - Parameter host: A name or an address, in lowercase, without a port.
    /// - Throws: ``AFError/serverTrustEvaluationFailed(reason:)`` with the reason `noRequiredEvaluator` if a required evaluator
    ///   is missing.
    open func serverTrustEvaluator(forHost host: String) throws -> (any ServerTrustEvaluating)? {
        guard let evaluator = evaluatorsByName[HostName(host)] else {
            if allHostsMustBeEvaluated {
                throw AFError.serverTrustEvaluationFailed(reason: .noRequiredEvaluator(host: host))
            }
            return nil
        }
        return evaluator
    }
}

/// A type that decides whether to trust a server.
///
/// A ``ServerTrustManager`` assigns evaluators to hosts. An evaluator is called for each new connection to its host, before any
/// byte of a request is sent. This includes connections for redirects and retries. For ten minutes, a positive decision also
/// applies to further connections with the same certificates. The evaluator replaces the transport's validation, so it must
/// perform all checks itself.
///
/// ```swift
/// final class StagingEvaluator: ServerTrustEvaluating {
///     func evaluate(_ trust: ServerTrust, forHost host: String) throws {
///         try trust.af.performValidation(forHost: host)
///         guard trust.certificates[0].issuer == "CN=Staging" else { throw NotStaging() }
///     }
/// }
/// ```
public protocol ServerTrustEvaluating: Sendable {
    /// Evaluates a server's certificates. The method returns normally if the server is trusted, and throws an error otherwise.
    ///
    /// The method is called in a task of the request, on a thread for evaluators. It can be called for several connections at
    /// once, and it can block. At most 16 evaluators run at a time in a process. Further requests wait, within their timeouts,
    /// until an evaluator returns. A request that is canceled or times out doesn't wait for its evaluator.
    ///
    /// - Parameters:
    ///   - trust: The certificates that the server presented.
    ///   - host: The requested host, in lowercase.
    /// - Throws: The reason the server isn't trusted. The request fails with ``AFError/serverTrustEvaluationFailed(reason:)``.
    ///   Errors other than `AFError` are wrapped in the reason `customEvaluationFailed`.
    func evaluate(_ trust: ServerTrust, forHost host: String) throws
}

/// An asynchronous evaluator, for example one that calls a service or prompts the user.
public protocol AsyncServerTrustEvaluating: ServerTrustEvaluating {
    /// Evaluates a server's certificates. The method returns normally if the server is trusted, and throws an error otherwise.
    ///
    /// The method is called in a task of the request. Canceling the request cancels the task. It can be called for several
    /// connections at once.
    ///
    /// - Throws: The reason the server isn't trusted.
    func evaluate(_ trust: ServerTrust, forHost host: String) async throws
}

extension AsyncServerTrustEvaluating {
    /// Always throws an error, because only the asynchronous method can decide.
    ///
    /// - Throws: ``AFError/serverTrustEvaluationFailed(reason:)`` with the reason `trustEvaluationFailed`.
    public func evaluate(_ trust: ServerTrust, forHost host: String) throws {
        let problem = Problem("this evaluator is asynchronous: call its async method evaluate(_:forHost:)")
        throw AFError.serverTrustEvaluationFailed(reason: .trustEvaluationFailed(error: problem))
    }
}

extension ServerTrustEvaluating {
    /// Calls the evaluator, synchronous or asynchronous, and waits for its decision.
    ///
    /// - Parameter longestWait: The maximum time that a synchronous evaluator waits for a thread.
    func decide(on trust: ServerTrust, forHost host: String, waitingAtMost longestWait: Duration) async throws {
        if let evaluator = self as? CompositeTrustEvaluator {
            try await evaluator.decide(on: trust, forHost: host, waitingAtMost: longestWait)
        } else if let evaluator = self as? any AsyncServerTrustEvaluating {
            try await evaluator.evaluate(trust, forHost: host)
        } else {
            try await EvaluatorThreads.shared.run(waitingAtMost: longestWait) { try evaluate(trust, forHost: host) }
        }
    }
}

#if !canImport(Security)
    /// Apple's name for the certificates that a server presented.
    public typealias SecTrust = ServerTrust
    /// Apple's name for a certificate.
    public typealias SecCertificate = Certificate
    /// Apple's name for a public key.
    public typealias SecKey = PublicKey
#endif

/// Runs synchronous trust evaluators, which are user code that can block.
///
/// Each evaluator runs in a task of the request, so it has the request's task-local values. The task uses its own serial queue.
/// Dispatch provides a thread for this queue even if all its other threads and the task pool's threads are blocked. The number of
/// evaluators that run at a time is limited. Further evaluators wait in order of arrival.
final class EvaluatorThreads: Sendable {
    static let shared = EvaluatorThreads(limit: 16, queueLimit: 1_024)

    private enum Outcome {
        case admitted
        case cancelled
        case timedOut
    }

    private struct State {
        var runningCount = 0
        var waiting: [Deferred<Outcome>] = []
    }

    private let limit: Int
    private let queueLimit: Int
    private let state = Locked(State())

    init(limit: Int, queueLimit: Int) { (self.limit, self.queueLimit) = (limit, queueLimit) }

    /// Runs an evaluator. If the task is canceled, returns immediately, even if the evaluator is still running.
    ///
    /// - Throws: The evaluator's error, ``NoTrustDecision`` if it couldn't run, or `CancellationError`.
    func run(waitingAtMost longestWait: Duration, _ evaluate: @escaping @Sendable () throws -> Void) async throws {
        try await waitForTurn(atMost: longestWait)
        try await withCancellableTask(on: QueueExecutor(DispatchQueue(label: "afar.evaluator"))) { [self] in
            defer { endTurn() }
            try Task.checkCancellation()
            try evaluate()
        }
    }

    private func waitForTurn(atMost longestWait: Duration) async throws {
        let turn = Deferred<Outcome>()
        let mustWait = try state.withLock { state in
            guard state.runningCount == limit else {
                state.runningCount += 1
                return false
            }
            guard state.waiting.count < queueLimit else {
                throw NoTrustDecision(
                    .outOfResources,
                    "the server's certificates can't be evaluated: \(limit) evaluators are running and "
                        + "\(queueLimit) requests wait for one of them to return")
            }
            state.waiting.append(turn)
            return true
        }
        guard mustWait else { return }
        let timer = DelayedCall(after: longestWait) { [self] in stopWaiting(turn, .timedOut) }
        defer { timer.cancel() }
        switch await turn.value(onCancel: { stopWaiting(turn, .cancelled) }) {
        case .admitted: return
        case .cancelled: throw CancellationError()
        case .timedOut:
            throw NoTrustDecision(
                .timedOut,
                "the server's certificates were not evaluated within \(longestWait.formatted(.units())), because "
                    + "\(limit) other evaluators have not returned")
        }
    }

    /// Ends a wait with an outcome, unless the wait has already ended.
    private func stopWaiting(_ turn: Deferred<Outcome>, _ outcome: Outcome) {
        let wasWaiting = state.withLock { state in
            let index = state.waiting.firstIndex { $0 === turn }
            if let index { state.waiting.remove(at: index) }
            return index != nil
        }
        if wasWaiting { turn.fulfill(outcome) }
    }

    private func endTurn() {
        let next = state.withLock { state -> Deferred<Outcome>? in
            guard !state.waiting.isEmpty else {
                state.runningCount -= 1
                return nil
            }
            return state.waiting.removeFirst()
        }
        next?.fulfill(.admitted)
    }
}
