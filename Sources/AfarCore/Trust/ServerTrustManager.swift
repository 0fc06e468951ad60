/// A type that maps hosts to the evaluators that evaluate their certificates.
///
/// For a host without an evaluator, the transport performs its default validation, or the request fails if all hosts must be
/// evaluated. Pass a manager to ``Session``.
open class ServerTrustManager: @unchecked Sendable {
    // Sendable because it doesn't change.

    /// Whether a request to a host without an evaluator fails.
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
            // Two spellings of one host: both evaluators must trust it.
            uniquingKeysWith: { CompositeTrustEvaluator(evaluators: [$0, $1]) })
    }

    /// Returns the evaluator for a host. If nil, the transport performs its default validation.
    ///
    /// An override is called for each request, including requests after redirects, in a task of the request. Return the same
    /// object each time while the rules stay the same: connections opened for another evaluator aren't reused.
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
/// An evaluator is called for each new connection to its host in a ``ServerTrustManager``, including those for redirects and
/// retries, before any byte of a request is sent. A positive decision is valid for ten minutes for further connections with the
/// same certificates. The evaluator replaces the transport's validation, so anything that it doesn't check isn't checked.
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
    /// Returns if the server is trusted.
    ///
    /// The method is called in a task of the request, on a thread for evaluators, and can be called for several connections at
    /// once. It can block: at most 16 evaluators run at a time in a process, and further requests wait, within their timeouts,
    /// for one of them to return. A request that is cancelled or times out doesn't wait for its evaluator.
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
    /// Returns if the server is trusted.
    ///
    /// The method is called in a task of the request, which is cancelled with the request. It can be called for several
    /// connections at once.
    ///
    /// - Parameters:
    ///   - trust: The certificates that the server presented.
    ///   - host: The requested host, in lowercase.
    /// - Throws: The reason the server isn't trusted.
    func evaluate(_ trust: ServerTrust, forHost host: String) async throws
}

extension AsyncServerTrustEvaluating {
    /// Always throws, because the decision requires the asynchronous method.
    ///
    /// - Throws: ``AFError/serverTrustEvaluationFailed(reason:)`` with the reason `trustEvaluationFailed`.
    public func evaluate(_ trust: ServerTrust, forHost host: String) throws {
        throw AFError.serverTrustEvaluationFailed(reason: .trustEvaluationFailed(error: EvaluationNotAwaited()))
    }
}

extension ServerTrustEvaluating {
    /// Calls the evaluator, synchronous or asynchronous, and waits for its decision.
    ///
    /// - Parameter longestWait: The maximum time to wait for a thread for a synchronous evaluator.
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

/// The synchronous method of an asynchronous evaluator was called.
private struct EvaluationNotAwaited: Error, CustomStringConvertible {
    var description: String { "this evaluator takes time to decide: call its asynchronous evaluate(_:forHost:)" }
}
