#if canImport(COpenSSL)
    import COpenSSL
    import Foundation

    /// What an OCSP responder says (RFC 6960).
    enum OCSP {
        /// The signed part of a response; nil when it is none or not a successful one.
        static func read(_ der: Data) -> OpenSSLObject? {
            let response = OpenSSLObject(decoding: der, d2i_OCSP_RESPONSE, free: OCSP_RESPONSE_free)
            guard let response, OCSP_response_status(response.raw) == OCSP_RESPONSE_STATUS_SUCCESSFUL else {
                return nil
            }
            return OpenSSLObject(OCSP_response_get1_basic(response.raw), free: OCSP_BASICRESP_free)
        }

        /// What is said about one certificate.
        struct Status {
            let value: Int32
            private let thisUpdate: UnsafeMutablePointer<ASN1_GENERALIZEDTIME>?
            private let nextUpdate: UnsafeMutablePointer<ASN1_GENERALIZEDTIME>?

            /// How old a response may be that does not say until when it holds, in seconds.
            private static let longestAge = 7 * 24 * 60 * 60

            /// Nil when nothing is said about it. Responders name certificates by hashes of one kind or another.
            init?(of certificate: OpaquePointer, _ issuer: OpaquePointer, in response: OpaquePointer) {
                var (value, reason): (Int32, Int32) = (-1, -1)
                var this: UnsafeMutablePointer<ASN1_GENERALIZEDTIME>?
                var next: UnsafeMutablePointer<ASN1_GENERALIZEDTIME>?
                let isFound = [EVP_sha1(), EVP_sha256()].contains { digest in
                    let id = OpenSSLObject(OCSP_cert_to_id(digest, certificate, issuer), free: OCSP_CERTID_free)
                    guard let id else { return false }
                    return OCSP_resp_find_status(response, id.raw, &value, &reason, nil, &this, &next) == 1
                }
                guard isFound else { return nil }
                (self.value, thisUpdate, nextUpdate) = (value, this, next)
            }

            func isCurrent(tolerance: Int) -> Bool {
                defer { ERR_clear_error() }
                return OCSP_check_validity(thisUpdate, nextUpdate, tolerance, nextUpdate == nil ? Self.longestAge : -1)
                    == 1
            }
        }
    }

    /// Lists of certificates that are revoked (RFC 5280, section 5).
    enum RevocationList {
        /// Returns whether the list could be read.
        static func append(_ der: Data, to stack: OpaquePointer) -> Bool {
            let list = der.withUnsafeBytes { bytes in
                var next = bytes.bindMemory(to: UInt8.self).baseAddress
                return d2i_X509_CRL(nil, &next, bytes.count)
            }
            guard let list else { return false }
            return afar_crl_append(stack, list) == 1
        }
    }
#endif
