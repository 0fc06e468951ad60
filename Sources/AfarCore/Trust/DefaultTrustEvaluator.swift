public import AfarTransport

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
