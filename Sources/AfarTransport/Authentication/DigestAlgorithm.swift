import Foundation

/// A hash function by its name in a challenge (RFC 7616, section 6.1).
enum DigestAlgorithm: String, Sendable {
    case md5 = "md5"
    case sha256 = "sha-256"

    /// The hash of a text, in hexadecimal digits.
    func hash(_ text: String) -> String {
        switch self {
        case .md5: MD5.hexDigest(of: text)
        case .sha256: SHA256.hexDigest(of: text)
        }
    }

    /// The hash of a request's body, in hexadecimal digits; nil for one that is made while it is sent.
    ///
    /// A file is read, so it takes time. It ends early, with an error, when the task is cancelled.
    func hash(_ body: RequestBody) throws -> String? {
        switch self {
        case .md5: try Self.hash(body, by: MD5.self)
        case .sha256: try Self.hash(body, by: SHA256.self)
        }
    }

    private static func hash<Function: HashFunction>(_ body: RequestBody, by: Function.Type) throws -> String? {
        var hash = Function()
        switch body {
        case .none: break
        case .data(let data): data.withUnsafeBytes { hash.update($0) }
        case .file(let url):
            let file = try FileHandle(forReadingFrom: url)
            defer { try? file.close() }
            while let chunk = try file.read(upToCount: 256 * 1024), !chunk.isEmpty {
                try Task.checkCancellation()
                chunk.withUnsafeBytes { hash.update($0) }
            }
        case .stream: return nil
        }
        return hash.finalize().hexDigits
    }
}
