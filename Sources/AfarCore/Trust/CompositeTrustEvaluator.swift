/// An evaluator that runs several evaluators in order. All of them must trust the server.
public final class CompositeTrustEvaluator: AsyncServerTrustEvaluating {
    private let evaluators: [any ServerTrustEvaluating]

    /// Creates an evaluator from others. If there are none, it trusts no server.
    public init(evaluators: [any ServerTrustEvaluating]) { self.evaluators = evaluators }

    /// Throws the error of the first evaluator that doesn't trust the server, or that is asynchronous.
    public func evaluate(_ trust: ServerTrust, forHost host: String) throws {
        try checkCount()
        for evaluator in evaluators { try evaluator.evaluate(trust, forHost: host) }
    }

    /// Throws the error of the first evaluator that doesn't trust the server.
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
    /// Returns a ``CompositeTrustEvaluator`` of these evaluators.
    public static func composite(evaluators: [any ServerTrustEvaluating]) -> CompositeTrustEvaluator {
        CompositeTrustEvaluator(evaluators: evaluators)
    }
}

extension [any ServerTrustEvaluating] {
    /// Runs these evaluators in order. All of them must trust the server.
    ///
    /// - Throws: The error of the first evaluator that doesn't trust the server, or that is asynchronous.
    public func evaluate(_ trust: ServerTrust, forHost host: String) throws {
        for evaluator in self { try evaluator.evaluate(trust, forHost: host) }
    }
}

private struct NoEvaluators: Error, CustomStringConvertible {
    var description: String { "a CompositeTrustEvaluator without evaluators trusts nobody" }
}

/// An evaluator that performs the default validation: the chain against the authorities that the transport trusts, and the host.
public final class DefaultTrustEvaluator: ServerTrustEvaluating {
    private let validateHost: Bool

    /// Creates an evaluator.
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

/// An evaluator that trusts every certificate, so an attacker on the network can read and change all data. Use it only for tests
/// against your own servers, and only for hosts listed in a ``ServerTrustManager``.
public final class DisabledTrustEvaluator: ServerTrustEvaluating {
    /// Creates an evaluator.
    public init() {}

    /// Never throws.
    public func evaluate(_ trust: ServerTrust, forHost host: String) throws {}
}
