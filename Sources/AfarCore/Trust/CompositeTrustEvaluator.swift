/// Asks several evaluators in order; all must agree.
public final class CompositeTrustEvaluator: AsyncServerTrustEvaluating {
    private let evaluators: [any ServerTrustEvaluating]

    /// Makes an evaluator of others. Without any it refuses all.
    public init(evaluators: [any ServerTrustEvaluating]) { self.evaluators = evaluators }

    /// Throws what the first evaluator throws that refuses, or takes time to decide.
    public func evaluate(_ trust: ServerTrust, forHost host: String) throws {
        try checkCount()
        for evaluator in evaluators { try evaluator.evaluate(trust, forHost: host) }
    }

    /// Throws what the first evaluator throws that refuses.
    public func evaluate(_ trust: ServerTrust, forHost host: String) async throws {
        try await decide(on: trust, forHost: host, waitingAtMost: .seconds(1e9))
    }

    func decide(on trust: ServerTrust, forHost host: String, waitingAtMost longestWait: Duration) async throws {
        try checkCount()
        for evaluator in evaluators {
            try await evaluator.decide(on: trust, forHost: host, waitingAtMost: longestWait)
        }
    }

    private func checkCount() throws {
        guard evaluators.isEmpty else { return }
        throw AFError.serverTrustEvaluationFailed(reason: .trustEvaluationFailed(error: NoEvaluators()))
    }
}

extension ServerTrustEvaluating where Self == CompositeTrustEvaluator {
    /// A ``CompositeTrustEvaluator`` of these evaluators.
    public static func composite(evaluators: [any ServerTrustEvaluating]) -> CompositeTrustEvaluator {
        CompositeTrustEvaluator(evaluators: evaluators)
    }
}

extension [any ServerTrustEvaluating] {
    /// Asks these evaluators in order; all must agree.
    ///
    /// - Throws: What the first one throws that refuses, or takes time to decide.
    public func evaluate(_ trust: ServerTrust, forHost host: String) throws {
        for evaluator in self { try evaluator.evaluate(trust, forHost: host) }
    }
}

private struct NoEvaluators: Error, CustomStringConvertible {
    var description: String { "a CompositeTrustEvaluator without evaluators trusts nobody" }
}

/// Validates certificates in the ordinary way: the chain against the authorities that the transport trusts, and the host.
public final class DefaultTrustEvaluator: ServerTrustEvaluating {
    private let validateHost: Bool

    /// Makes an evaluator.
    ///
    /// - Parameter validateHost: Whether the certificate must be for the host. The default is true.
    public init(validateHost: Bool = true) { self.validateHost = validateHost }

    /// Throws the reason `defaultEvaluationFailed` or `hostValidationFailed`.
    public func evaluate(_ trust: ServerTrust, forHost host: String) throws {
        try trust.af.validate(forHost: host, performDefaultValidation: true, validateHost: validateHost)
    }
}

extension ServerTrustEvaluating where Self == DefaultTrustEvaluator {
    /// A ``DefaultTrustEvaluator`` that validates the host.
    public static var `default`: DefaultTrustEvaluator { DefaultTrustEvaluator() }
}

/// Trusts every certificate: whoever is in between can read and change all that is sent. For tests against servers of one's
/// own only, and only for hosts named in a ``ServerTrustManager``.
public final class DisabledTrustEvaluator: ServerTrustEvaluating {
    /// Makes an evaluator.
    public init() {}

    /// Throws nothing.
    public func evaluate(_ trust: ServerTrust, forHost host: String) throws {}
}
