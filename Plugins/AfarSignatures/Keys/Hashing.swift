import Foundation

#if canImport(CryptoKit)
    import CryptoKit
#else
    import COpenSSL
#endif

/// Hash functions of OpenSSL on Linux, or of CryptoKit on Apple platforms.
enum Hashing {
    /// A hash function for ``Digest``.
    enum Function: Sendable {
        case sha256, sha512
    }

    /// Returns the hash of the bytes, or nil if the function isn't available.
    static func hash(_ bytes: Data, with function: Function) -> Data? {
        guard let digest = Digest(function) else { return nil }
        digest.update(bytes)
        return digest.finalize()
    }

    /// Returns the SHA-256 hash of a string's UTF-8 as lowercase hexadecimal digits, or nil if the function isn't available.
    static func sha256Hex(_ text: String) -> String? { hash(Data(text.utf8), with: .sha256)?.hexDigits }

    /// Returns the HMAC with SHA-256 (RFC 2104), or nil if the function isn't available.
    static func hmacSHA256(of message: Data, key: Data) -> Data? {
        #if canImport(CryptoKit)
            return Data(HMAC<SHA256>.authenticationCode(for: message, using: SymmetricKey(data: key)))
        #else
            var code = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
            var count: UInt32 = 0
            let isDone = key.withUnsafeBytes { key in
                message.withUnsafeBytes { message in
                    HMAC(
                        EVP_sha256(), key.baseAddress, Int32(clamping: key.count),
                        message.bindMemory(to: UInt8.self).baseAddress, message.count, &code, &count) != nil
                }
            }
            guard isDone else {
                // OpenSSL would report a remaining error as the cause of the next failure.
                ERR_clear_error()
                return nil
            }
            return Data(code.prefix(Int(count)))
        #endif
    }
}

/// Computes the hash of bytes that arrive in pieces. Used by one thread at a time.
final class Digest {
    #if canImport(CryptoKit)
        private var state: any CryptoKit.HashFunction

        /// Returns nil if the function isn't available.
        init?(_ function: Hashing.Function) {
            state =
                switch function {
                case .sha256: SHA256()
                case .sha512: SHA512()
                }
        }

        func update(_ bytes: Data) { state.update(data: bytes) }

        /// Returns the hash of all bytes that were added, or nil if the function failed.
        func finalize() -> Data? { Data(state.finalize()) }
    #else
        private let context: OpaquePointer
        private var hasFailed = false

        /// Returns nil if the function isn't available.
        init?(_ function: Hashing.Function) {
            guard let context = EVP_MD_CTX_new() else {
                ERR_clear_error()
                return nil
            }
            let type = function == .sha256 ? EVP_sha256() : EVP_sha512()
            guard EVP_DigestInit_ex(context, type, nil) == 1 else {
                EVP_MD_CTX_free(context)
                ERR_clear_error()
                return nil
            }
            self.context = context
        }

        deinit { EVP_MD_CTX_free(context) }

        func update(_ bytes: Data) {
            let isDone = bytes.withUnsafeBytes { EVP_DigestUpdate(context, $0.baseAddress, $0.count) == 1 }
            if !isDone { hasFailed = true }
        }

        /// Returns the hash of all bytes that were added, or nil if the function failed.
        func finalize() -> Data? {
            var bytes = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
            var count: UInt32 = 0
            guard !hasFailed, EVP_DigestFinal_ex(context, &bytes, &count) == 1 else {
                ERR_clear_error()
                return nil
            }
            return Data(bytes.prefix(Int(count)))
        }
    #endif
}

extension Data {
    /// The bytes as lowercase hexadecimal digits, two per byte.
    var hexDigits: String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 0xF)]] }, as: UTF8.self)
    }

    /// Compares all bytes, so that the time doesn't depend on the position of the first difference.
    func equalsInConstantTime(_ other: Data) -> Bool {
        guard count == other.count else { return false }
        return zip(self, other).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
