#if canImport(COpenSSL)
    import COpenSSL
    import Foundation

    /// Trusted certificates. The store doesn't change after its creation, so it can be used on any thread.
    package final class CertificateStore: @unchecked Sendable {
        // Sendable because OpenSSL only reads from it.
        package let raw: OpaquePointer

        /// One that trusts nobody.
        init() throws(CertificateError) {
            guard let raw = X509_STORE_new() else { throw .noCertificateAuthorities("memory ran out") }
            self.raw = raw
        }

        convenience init(file: URL) throws(CertificateError) {
            try self.init()
            guard X509_STORE_load_file(raw, file.path) == 1 else {
                throw .noCertificateAuthorities("\(file.path): \(OpenSSLError.takeMessage())")
            }
        }

        convenience init(certificates: [Certificate]) throws(CertificateError) {
            try self.init()
            for certificate in certificates {
                if let read = X509.read(certificate.derEncoded) { X509_STORE_add_cert(raw, read.raw) }
            }
        }

        deinit { X509_STORE_free(raw) }
    }
#endif
