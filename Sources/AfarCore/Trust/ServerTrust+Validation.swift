public import Foundation

extension ServerTrust: AlamofireExtended {}

extension AlamofireExtension where ExtendedType == ServerTrust {
    /// The certificates as the server sent them, its own first.
    public var certificates: [Certificate] { type.certificates }

    /// The keys of these certificates.
    public var publicKeys: [PublicKey] { type.publicKeys }

    /// These certificates in DER form.
    public var certificateData: [Data] { type.certificates.af.data }

    /// Validates the chain. See `ServerTrust.validate()`.
    ///
    /// - Throws: ``AFError/serverTrustEvaluationFailed(reason:)`` with the reason `defaultEvaluationFailed`.
    public func performDefaultValidation(forHost host: String) throws {
        try validate(forHost: host, performDefaultValidation: true, validateHost: false)
    }

    /// Validates the chain, and that the certificate is for a host. See `ServerTrust.validate()` and
    /// `ServerTrust.validateHost(_:)`.
    ///
    /// - Throws: ``AFError/serverTrustEvaluationFailed(reason:)`` with the reason `hostValidationFailed`.
    public func performValidation(forHost host: String) throws {
        try validate(forHost: host, performDefaultValidation: false, validateHost: true)
    }

    /// Validates the chain, if either validation is requested, and the host.
    ///
    /// - Returns: The certificates to compare with pins. A server can also send unrelated certificates; these aren't included.
    @discardableResult
    func validate(
        forHost host: String, performDefaultValidation: Bool, validateHost: Bool
    ) throws -> [Certificate] {
        guard performDefaultValidation || validateHost else { return type.signedCertificates }
        var isAboutHost = !performDefaultValidation
        do throws(ServerTrustError) {
            let chain = try type.validate()
            isAboutHost = true
            if validateHost { try type.validateHost(host) }
            return chain
        } catch {
            let output = AFError.ServerTrustFailureReason.Output(host: host, trust: type, error: error)
            throw AFError.serverTrustEvaluationFailed(
                reason: isAboutHost ? .hostValidationFailed(output: output) : .defaultEvaluationFailed(output: output))
        }
    }
}

extension [Certificate]: AlamofireExtended {}

extension AlamofireExtension where ExtendedType == [Certificate] {
    /// The certificates in DER form.
    public var data: [Data] { type.map(\.derEncoded) }

    /// The certificates' keys.
    public var publicKeys: [PublicKey] { type.map(\.publicKey) }
}

extension Certificate: AlamofireExtended {}

extension AlamofireExtension where ExtendedType == Certificate {
    /// The certificate's key.
    public var publicKey: PublicKey? { type.publicKey }
}
