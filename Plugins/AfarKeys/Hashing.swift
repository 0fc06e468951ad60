public import Foundation

#if canImport(CryptoKit)
    import CryptoKit
#else
    import COpenSSL
#endif

/// Creates and compares message authentication codes, with OpenSSL on Linux and CryptoKit on Apple platforms.
public enum Hashing {
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
}
