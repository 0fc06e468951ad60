public import AfarTransport
public import Foundation

extension ServerTrust: AlamofireExtended {}

extension AlamofireExtension where ExtendedType == ServerTrust {
    /// The certificates as the server sent them, its own first.
    public var certificates: [Certificate] { type.certificates }

    /// The keys of these certificates.
    public var publicKeys: [PublicKey] { type.publicKeys }

    /// These certificates in DER form.
    public var certificateData: [Data] { type.certificates.af.data }

    /// Validates the chain, see `ServerTrust.validate()`.
    ///
    /// - Throws: ``AFError/serverTrustEvaluationFailed(reason:)`` with the reason `defaultEvaluationFailed`.
    public func performDefaultValidation(forHost host: String) throws {
        do { try type.validate() } catch {
            throw AFError.serverTrustEvaluationFailed(
                reason: .defaultEvaluationFailed(output: .init(host: host, trust: type, error: error)))
        }
    }

    /// Validates the chain, and that the certificate is for a host, see `ServerTrust.validate()` and
    /// `ServerTrust.validateHost(_:)`.
    ///
    /// - Throws: ``AFError/serverTrustEvaluationFailed(reason:)`` with the reason `hostValidationFailed`.
    public func performValidation(forHost host: String) throws {
        do throws(ServerTrustError) {
            try type.validate()
            try type.validateHost(host)
        } catch {
            throw AFError.serverTrustEvaluationFailed(
                reason: .hostValidationFailed(output: .init(host: host, trust: type, error: error)))
        }
    }

    /// What may be compared with pins. A server may send certificates along that have nothing to do with its own.
    func certificatesToPin(isValidated: Bool) throws -> [Certificate] {
        isValidated ? try type.validate() : type.signedCertificates
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
