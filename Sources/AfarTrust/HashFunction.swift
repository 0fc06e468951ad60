public import Foundation

#if canImport(CryptoKit)
    import CryptoKit
#else
    import COpenSSL
#endif

/// A hash function of OpenSSL on Linux, or of CryptoKit on Apple platforms. The raw value is its name in a Digest authentication
/// challenge (RFC 7616, section 6.1).
public enum HashFunction: String, Sendable {
    /// MD5 (RFC 1321). It is insecure for signatures. Use it only for Digest authentication, where servers require it.
    case md5 = "md5"
    /// SHA-1 (FIPS 180-4). It is insecure for signatures. Use it only for the WebSocket handshake, which requires it.
    case sha1 = "sha-1"
    /// SHA-256 (FIPS 180-4).
    case sha256 = "sha-256"
    /// SHA-512 (FIPS 180-4). Digest authentication doesn't use it.
    case sha512 = "sha-512"

    /// Whether hashes can be computed. For example, OpenSSL doesn't provide MD5 in FIPS mode.
    package var isAvailable: Bool { IncrementalHash(self) != nil }

    /// Returns the hash of these bytes, or nil if the function isn't available or fails.
    public func hash(of bytes: some ContiguousBytes) -> [UInt8]? {
        guard var hash = IncrementalHash(self) else { return nil }
        bytes.withUnsafeBytes { hash.update($0) }
        return hash.finalize()
    }

    /// Returns the hash of a string's UTF-8, or nil if the function isn't available or fails.
    package func hash(of text: String) -> [UInt8]? {
        var text = text
        return text.withUTF8 { hash(of: UnsafeRawBufferPointer($0)) }
    }

    /// Returns the hash of a string's UTF-8 as lowercase hexadecimal digits, or nil if the function isn't available or fails.
    package func hexDigest(of text: String) -> String? { hash(of: text)?.hexDigits }
}

extension [UInt8] {
    /// The bytes as lowercase hexadecimal digits, two per byte.
    package var hexDigits: String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 0xF)]] }, as: UTF8.self)
    }
}

/// Computes the hash of bytes that arrive in pieces.
public struct IncrementalHash: ~Copyable {
    #if canImport(CryptoKit)
        private var state: any CryptoKit.HashFunction

        /// Returns nil if the function isn't available.
        public init?(_ function: HashFunction) {
            state =
                switch function {
                case .md5: Insecure.MD5()
                case .sha1: Insecure.SHA1()
                case .sha256: SHA256()
                case .sha512: SHA512()
                }
        }

        /// Adds the next bytes of the input.
        public mutating func update(_ bytes: UnsafeRawBufferPointer) { state.update(bufferPointer: bytes) }

        /// Returns the hash of all bytes that were added, or nil if the function failed.
        public consuming func finalize() -> [UInt8]? { Array(state.finalize()) }
    #else
        private let context: OpaquePointer
        private var hasFailed = false

        /// Returns nil if the function isn't available.
        public init?(_ function: HashFunction) {
            let type =
                switch function {
                case .md5: EVP_md5()
                case .sha1: EVP_sha1()
                case .sha256: EVP_sha256()
                case .sha512: EVP_sha512()
                }
            guard let context = EVP_MD_CTX_new() else {
                ERR_clear_error()
                return nil
            }
            guard EVP_DigestInit_ex(context, type, nil) == 1 else {
                EVP_MD_CTX_free(context)
                // OpenSSL would report a remaining error as the cause of the next failure.
                ERR_clear_error()
                return nil
            }
            self.context = context
        }

        deinit { EVP_MD_CTX_free(context) }

        /// Adds the next bytes of the input.
        public mutating func update(_ bytes: UnsafeRawBufferPointer) {
            guard !hasFailed, EVP_DigestUpdate(context, bytes.baseAddress, bytes.count) != 1 else { return }
            hasFailed = true
            ERR_clear_error()
        }

        /// Returns the hash of all bytes that were added, or nil if the function failed.
        public consuming func finalize() -> [UInt8]? {
            var bytes = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
            var count: UInt32 = 0
            guard !hasFailed, EVP_DigestFinal_ex(context, &bytes, &count) == 1 else {
                ERR_clear_error()
                return nil
            }
            return Array(bytes.prefix(Int(count)))
        }
    #endif
}
