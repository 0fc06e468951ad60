/// The TLS version and the cipher suite of a connection.
package struct TLSAgreement: Sendable {
    package let versionNumber: UInt16
    package let version: String
    package let cipherSuiteNumber: UInt16
    package let cipherSuite: String
}

#if canImport(COpenSSL)
    import AfarTrust
    import COpenSSL
    import Foundation

    /// Reads the results of a handshake from an OpenSSL connection.
    package struct OpenSSLConnection {
        package let ssl: OpaquePointer

        package init(_ ssl: OpaquePointer) { self.ssl = ssl }

        /// The version and the cipher suite; nil before they are negotiated.
        package var agreement: TLSAgreement? {
            guard let cipher = SSL_get_current_cipher(ssl) else { return nil }
            return TLSAgreement(
                versionNumber: UInt16(truncatingIfNeeded: SSL_version(ssl)),
                version: String(cString: SSL_get_version(ssl)),
                cipherSuiteNumber: SSL_CIPHER_get_protocol_id(cipher),
                cipherSuite: CipherSuiteNames.name(of: cipher))
        }

        /// The certificates and the OCSP response that the server presented.
        package var presentedChain: PresentedChain {
            let chain = SSL_get_peer_cert_chain(ssl)
            let certificates = (0..<afar_x509_count(chain)).compactMap { index in
                afar_x509_at(chain, index).flatMap { certificate in Data(encoding: { i2d_X509(certificate, $0) }) }
            }
            var bytes: UnsafePointer<UInt8>?
            let count = afar_ocsp_response(ssl, &bytes)
            let response = count > 0 ? bytes.map { Data(bytes: $0, count: count) } : nil
            return PresentedChain(certificates: certificates, stapledOCSPResponse: response)
        }

        /// Whether OpenSSL holds unprocessed bytes. OpenSSL's own function doesn't count the header of a record whose content hasn't
        /// arrived.
        package var hasPendingData: Bool {
            SSL_has_pending(ssl) != 0 || String(cString: SSL_rstate_string(ssl)) == "RB"
        }
    }

    private enum CipherSuiteNames {
        private static let names = Locked<[UInt16: String]>([:])

        static func name(of cipher: OpaquePointer) -> String {
            let number = SSL_CIPHER_get_protocol_id(cipher)
            return names.withLock { names in
                if let name = names[number] { return name }
                let name = String(cString: SSL_CIPHER_standard_name(cipher) ?? SSL_CIPHER_get_name(cipher))
                names[number] = name
                return name
            }
        }
    }
#endif
