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
