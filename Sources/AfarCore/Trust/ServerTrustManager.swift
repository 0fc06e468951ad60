/// Knows which evaluator decides on the certificates of which host.
///
/// For a host without one, the transport validates certificates as it always does, or the request fails if all hosts must
/// be evaluated. Give it to ``Session``.
open class ServerTrustManager: @unchecked Sendable {
    // Sendable because it does not change.

    /// Whether a request to a host without an evaluator fails.
    public let allHostsMustBeEvaluated: Bool
    /// The evaluators by their hosts.
    public let evaluators: [String: any ServerTrustEvaluating]
    private let evaluatorsByName: [HostName: any ServerTrustEvaluating]

    /// Makes a manager.
    ///
    /// - Parameters:
    ///   - allHostsMustBeEvaluated: Whether a request to a host without an evaluator fails, before it is sent. The default is
    ///     true.
    ///   - evaluators: The evaluators by their hosts: names or addresses, international names in their ASCII form ("xn--…").
    ///     Neither case nor a port matters, and there are no wildcards: override ``serverTrustEvaluator(forHost:)`` for
    ///     those.
    public init(allHostsMustBeEvaluated: Bool = true, evaluators: [String: any ServerTrustEvaluating]) {
        self.allHostsMustBeEvaluated = allHostsMustBeEvaluated
        self.evaluators = evaluators
        evaluatorsByName = Dictionary(
            evaluators.map { (HostName($0.key), $0.value) },
            // Two spellings of one host: both have their say.
            uniquingKeysWith: { CompositeTrustEvaluator(evaluators: [$0, $1]) })
    }

    /// Who decides about a host; nil leaves that to the transport.
    ///
    /// An overriding method is called for each request, also for those that redirects lead to, in a task of the request's.
    /// Return the same object each time as long as the rules are the same: connections that were opened for another are
    /// not used.
    ///
    /// - Parameter host: A name or an address, in lower case, without port.
    /// - Throws: ``AFError/serverTrustEvaluationFailed(reason:)`` with the reason `noRequiredEvaluator` when there must be
    ///   one and there is none.
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

/// Decides whether a server is the one that it says it is.
///
/// An evaluator is asked for each new connection to a host that it stands for in a ``ServerTrustManager``, redirects and
/// retries included, before the first byte of a request leaves; its yes holds for ten minutes for further connections on
/// which the server presents the same. It decides instead of the transport, so what it does not check is not checked.
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
    /// Returns when the server is to be trusted.
    ///
    /// It is called in a task of the request's, on a thread for evaluators, and may be called for several connections at once.
    /// It may block: at most 16 evaluators run at a time in a process, and further requests wait for one of them to return,
    /// within their timeouts. A request that is cancelled or times out doesn't wait for its evaluator.
    ///
    /// - Parameters:
    ///   - trust: What the server has presented.
    ///   - host: The host that was asked for, in lower case.
    /// - Throws: Why it is not to be trusted. The request fails with ``AFError/serverTrustEvaluationFailed(reason:)``:
    ///   around an error other than an `AFError` with the reason `customEvaluationFailed`.
    func evaluate(_ trust: ServerTrust, forHost host: String) throws
}

/// An evaluator that takes time to decide: it asks a service, or a person.
public protocol AsyncServerTrustEvaluating: ServerTrustEvaluating {
    /// Returns when the server is to be trusted.
    ///
    /// It is called in a task of the request's, which is cancelled when the request is, and may be called for several
    /// connections at once.
    ///
    /// - Parameters:
    ///   - trust: What the server has presented.
    ///   - host: The host that was asked for, in lower case.
    /// - Throws: Why it is not to be trusted.
    func evaluate(_ trust: ServerTrust, forHost host: String) async throws
}

extension AsyncServerTrustEvaluating {
    /// Refuses: whoever cannot wait gets no decision.
    ///
    /// - Throws: ``AFError/serverTrustEvaluationFailed(reason:)`` with the reason `trustEvaluationFailed`.
    public func evaluate(_ trust: ServerTrust, forHost host: String) throws {
        throw AFError.serverTrustEvaluationFailed(reason: .trustEvaluationFailed(error: EvaluationNotAwaited()))
    }
}

extension ServerTrustEvaluating {
    /// Asks the evaluator, and waits for one that takes time.
    ///
    /// - Parameter longestWait: How long to wait for a thread for a synchronous evaluator.
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

/// Somebody asked an evaluator for a decision at once that takes time.
private struct EvaluationNotAwaited: Error, CustomStringConvertible {
    var description: String { "this evaluator takes time to decide: call its asynchronous evaluate(_:forHost:)" }
}
