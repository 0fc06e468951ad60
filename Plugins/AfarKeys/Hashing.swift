public import Foundation

#if canImport(CryptoKit)
    import CryptoKit
#else
    import COpenSSL
#endif

/// Hash functions of OpenSSL on Linux, or of CryptoKit on Apple platforms.
public enum Hashing {
    /// A hash function (FIPS 180-4).
    public enum Function: Sendable {
        /// SHA-256.
        case sha256
        /// SHA-512.
        case sha512
    }

    /// Returns the hash of the bytes, or nil if the function isn't available.
    public static func hash(_ bytes: Data, with function: Function) -> Data? {
        guard let digest = Digest(function) else { return nil }
        digest.update(bytes)
        return digest.finalize()
    }

    /// Returns the HMAC with SHA-256 (RFC 2104), or nil if the function isn't available.
    public static func hmacSHA256(of message: Data, key: Data) -> Data? {
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

    /// Compares all bytes, so that the time doesn't depend on the position of the first difference.
    public static func equalInConstantTime(
        _ first: some Collection<UInt8>, _ second: some Collection<UInt8>
    ) -> Bool {
        guard first.count == second.count else { return false }
        return zip(first, second).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }

    /// Computes the hash of bytes that arrive in pieces. Used by one thread at a time.
    public final class Digest {
        #if canImport(CryptoKit)
            private var state: any CryptoKit.HashFunction

            /// Returns nil if the function isn't available.
            public init?(_ function: Function) {
                state =
                    switch function {
                    case .sha256: SHA256()
                    case .sha512: SHA512()
                    }
            }

            /// Adds the next bytes of the input.
            public func update(_ bytes: Data) { state.update(data: bytes) }

            /// Returns the hash of all bytes that were added, or nil if the function failed.
            public func finalize() -> Data? { Data(state.finalize()) }
        #else
            private let context: OpaquePointer
            private var hasFailed = false

            /// Returns nil if the function isn't available.
            public init?(_ function: Function) {
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

            /// Adds the next bytes of the input.
            public func update(_ bytes: Data) {
                let isDone = bytes.withUnsafeBytes { EVP_DigestUpdate(context, $0.baseAddress, $0.count) == 1 }
                if !isDone { hasFailed = true }
            }

            /// Returns the hash of all bytes that were added, or nil if the function failed.
            public func finalize() -> Data? {
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
}
