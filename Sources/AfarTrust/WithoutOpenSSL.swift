#if !canImport(COpenSSL)
    import Foundation

    // Without OpenSSL, certificates can't be read, and no server is trusted.

    extension Certificate {
        static func read(_ der: Data) throws(CertificateError) -> Certificate { throw .unsupported }

        func isValid(forHost host: String) throws(ServerTrustError) -> Bool { false }
    }

    extension PublicKey {
        static func read(_ der: Data) throws(CertificateError) -> PublicKey { throw .unsupported }
    }

    extension ClientIdentity {
        static func make(
            _ certificates: [Certificate], privateKey: Data, passphrase: String?
        ) throws(CertificateError) -> ClientIdentity { throw .unsupported }

        static func read(pkcs12 data: Data, passphrase: String) throws(CertificateError) -> ClientIdentity {
            throw .unsupported
        }
    }

    package final class CertificateStore: Sendable {
        init(file: URL) throws(CertificateError) { throw .unsupported }
    }

    struct ChainValidation {
        init(_ trust: ServerTrust) {}

        @discardableResult
        func chain() throws(ServerTrustError) -> [Certificate] {
            throw ServerTrustError(.invalid, CertificateError.unsupported.description)
        }

        func signedChain() -> [Certificate] { [] }

        func checkStatus(in response: Data, of chain: [Certificate]) throws(ServerTrustError) { try self.chain() }
    }
#endif
