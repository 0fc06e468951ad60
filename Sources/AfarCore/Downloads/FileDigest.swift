import AfarTrust
public import Foundation
import HTTPTypes

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The expected hash of a file's bytes, to verify that a download is complete and unchanged.
///
/// ```swift
/// session.download(url, to: file).verify(.sha256(expected: digest))
/// ```
public struct FileDigest: Sendable, Hashable {
    /// A hash function. The raw value is its name in the header fields of RFC 9530.
    public enum Algorithm: String, Sendable, Hashable, CaseIterable {
        /// SHA-256 (FIPS 180-4), with 32 bytes.
        case sha256 = "sha-256"
        /// SHA-512 (FIPS 180-4), with 64 bytes.
        case sha512 = "sha-512"

        fileprivate var function: HashFunction {
            switch self {
            case .sha256: .sha256
            case .sha512: .sha512
            }
        }

        fileprivate var byteCount: Int {
            switch self {
            case .sha256: 32
            case .sha512: 64
            }
        }
    }

    /// The hash function.
    public let algorithm: Algorithm
    /// The bytes of the hash.
    public let bytes: Data

    /// Creates a digest from the bytes of a hash. A digest with a wrong number of bytes matches no file.
    public init(_ algorithm: Algorithm, bytes: Data) {
        self.algorithm = algorithm
        self.bytes = bytes
    }

    /// Creates a digest from hexadecimal digits, such as the output of `sha256sum`. The number of digits determines the hash function.
    ///
    /// - Returns: Nil if the text isn't 64 or 128 hexadecimal digits.
    public init?(hexadecimal text: some StringProtocol) {
        let digits = Array(text.utf8)
        guard let algorithm = Algorithm.allCases.first(where: { $0.byteCount * 2 == digits.count }) else { return nil }
        var bytes = Data(capacity: algorithm.byteCount)
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard digits[index...].prefix(2).allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }),
                let byte = UInt8(String(decoding: digits[index...].prefix(2), as: UTF8.self), radix: 16)
            else { return nil }
            bytes.append(byte)
        }
        self.init(algorithm, bytes: bytes)
    }

    /// Computes the digest of a file. The file is read in pieces. This method blocks.
    ///
    /// - Parameters:
    ///   - algorithm: The hash function.
    ///   - file: The URL of the file.
    ///   - shouldStop: Called after each piece. If it returns true, the method throws a `CancellationError`.
    /// - Throws: ``DigestError/unavailable(_:)`` if the system doesn't provide the hash function, or ``DigestError/unreadable(path:)``.
    public init(_ algorithm: Algorithm, of file: URL, shouldStop: () -> Bool = { false }) throws {
        guard var hash = IncrementalHash(algorithm.function) else { throw DigestError.unavailable(algorithm) }
        let descriptor = open(file.path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw DigestError.unreadable(path: file.path) }
        defer { close(descriptor) }
        var buffer = [UInt8](repeating: 0, count: 1 << 18)
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw DigestError.unreadable(path: file.path) }
            guard count > 0 else { break }
            buffer.withUnsafeBytes { hash.update(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
            if shouldStop() { throw CancellationError() }
        }
        guard let bytes = hash.finalize() else { throw DigestError.unavailable(algorithm) }
        self.init(algorithm, bytes: Data(bytes))
    }

    /// Returns the SHA-256 digest that a file is expected to have.
    ///
    /// - Parameter bytes: The 32 bytes of the digest, not the content of the file.
    public static func sha256(expected bytes: Data) -> FileDigest { FileDigest(.sha256, bytes: bytes) }

    /// Returns the SHA-512 digest that a file is expected to have.
    ///
    /// - Parameter bytes: The 64 bytes of the digest, not the content of the file.
    public static func sha512(expected bytes: Data) -> FileDigest { FileDigest(.sha512, bytes: bytes) }

    /// Throws an error unless a file has this digest. The file is read in pieces. This method blocks.
    ///
    /// - Parameters:
    ///   - file: The URL of the file.
    ///   - shouldStop: Called after each piece. If it returns true, the method throws a `CancellationError`.
    /// - Throws: A ``DigestError``.
    public func verify(_ file: URL, shouldStop: () -> Bool = { false }) throws {
        guard try FileDigest(algorithm, of: file, shouldStop: shouldStop) == self else {
            throw DigestError.mismatch(algorithm)
        }
    }
}

// MARK: - Header fields

extension FileDigest {
    /// The value of `Want-Repr-Digest` with which downloads request a digest (RFC 9530, section 4).
    public static let preferences = "sha-512=2, sha-256=1"

    /// Returns the digests that a server sent for a file (RFC 9530).
    ///
    /// The method reads the members `sha-256` and `sha-512` of `Repr-Digest`. Unless the response is a part of the file (status
    /// 206), it also reads these members of `Content-Digest`.
    ///
    /// - Parameters:
    ///   - head: The response's head.
    ///   - trailers: The response's trailer fields. The default is none.
    /// - Throws: ``DigestError/missing`` if the server sent none, ``DigestError/malformed`` if a value is invalid, and
    ///   ``DigestError/contentCoding`` if the response had a content coding. The digest then describes the encoded bytes.
    public static func digests(in head: ResponseHead, trailers: HTTPHeaders = HTTPHeaders()) throws -> [FileDigest] {
        // The content of a partial response is only a part of the file (RFC 9530, section 3).
        let names = head.status == 206 ? ["Repr-Digest"] : ["Repr-Digest", "Content-Digest"]
        let digests = try names.flatMap { name in
            let inHead = HTTPField.Name(name).map { head.values(for: $0) } ?? []
            let inTrailers = trailers.filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
            return try members(of: (inHead + inTrailers).joined(separator: ","))
        }
        guard !digests.isEmpty else { throw DigestError.missing }
        guard !head.isEncoded else { throw DigestError.contentCoding }
        return digests
    }

    /// Returns the supported members of a dictionary of byte sequences (RFC 9651, sections 3.2 and 3.3.5). If a member occurs more than
    /// once, the last one applies.
    private static func members(of value: String) throws(DigestError) -> [FileDigest] {
        var digests: [Algorithm: FileDigest] = [:]
        for member in value.split(separator: ",") {
            let parts = member.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = parts[0].drop { $0 == " " || $0 == "\t" }
            guard let algorithm = Algorithm(rawValue: String(name)) else { continue }
            guard parts.count == 2, parts[1].first == ":", let end = parts[1].dropFirst().firstIndex(of: ":"),
                let bytes = Data(base64Encoded: String(parts[1][..<end].dropFirst())),
                bytes.count == algorithm.byteCount
            else { throw .malformed }
            digests[algorithm] = FileDigest(algorithm, bytes: bytes)
        }
        return Array(digests.values)
    }
}

/// The reason a download's digest couldn't be verified. Handlers receive it in
/// ``AFError/ResponseValidationFailureReason/customValidationFailed(error:)``, and the file isn't moved to its destination.
public enum DigestError: Error, Sendable, Hashable {
    /// The file has another digest.
    case mismatch(FileDigest.Algorithm)
    /// The server sent no SHA-256 or SHA-512 digest.
    case missing
    /// The server sent an invalid digest.
    case malformed
    /// The response has a content coding, so the server's digest describes the encoded bytes instead of the file.
    case contentCoding
    /// The system doesn't provide the hash function.
    case unavailable(FileDigest.Algorithm)
    /// The file at this path can't be read.
    case unreadable(path: String)
}

extension DigestError: CustomStringConvertible, LocalizedError {
    /// A description of the problem and how to fix it.
    public var description: String {
        switch self {
        case .mismatch(let algorithm):
            "The file doesn't have the expected \(algorithm.rawValue) digest: it was damaged or replaced. Download it again from a source that you trust."
        case .missing:
            "The server sent no sha-256 or sha-512 digest. Pass the expected digest to verify(_:), or use verifyDigest(isRequired: false)."
        case .malformed:
            "The server sent an invalid Repr-Digest or Content-Digest. Pass the expected digest to verify(_:)."
        case .contentCoding:
            "The server compressed the response, so its digest doesn't describe the file. Pass the expected digest to verify(_:)."
        case .unavailable(let algorithm):
            "The system's cryptographic library doesn't provide \(algorithm.rawValue). Use another algorithm."
        case .unreadable(let path):
            "The file \(TerminalText.line(path)) can't be read. Keep it in place until the download is complete."
        }
    }

    /// The same text as `description`.
    public var errorDescription: String? { description }
}

// MARK: - Downloads

extension DownloadRequest {
    /// Verifies the digest of the file before it is moved to its destination.
    ///
    /// The digest describes the bytes of the file, after any content coding was decoded. It is verified after the validators have accepted
    /// the response. If it doesn't match, the request fails with a ``DigestError``. If you call this method more than once, all digests
    /// must match.
    ///
    /// ```swift
    /// session.download(url, to: file).validate().verify(.sha256(expected: digest))
    /// ```
    @discardableResult
    public func verify(_ digest: FileDigest) -> Self {
        file.append(.expected(digest))
        return self
    }

    /// Verifies the digest that the server sends in `Repr-Digest` or `Content-Digest` (RFC 9530), with SHA-256 or SHA-512. It protects
    /// against transmission errors, but not against a server that sends another file.
    ///
    /// The request asks for a digest (`Want-Repr-Digest`). Unless the request has an `Accept-Encoding` header, it also asks for a
    /// response without content coding. See ``verify(_:)``.
    ///
    /// - Parameter isRequired: Whether the request fails if the server sends no digest. The default is true.
    @discardableResult
    public func verifyDigest(isRequired: Bool = true) -> Self {
        file.append(.sent(isRequired: isRequired))
        return self
    }
}

/// A digest that a download verifies.
enum DigestCheck: Sendable {
    case expected(FileDigest)
    /// The digest in the response's fields.
    case sent(isRequired: Bool)

    /// Adds the fields that request a digest (RFC 9530, section 4).
    func prepare(_ urlRequest: inout URLRequest) {
        guard case .sent = self else { return }
        for (name, value) in [("Want-Repr-Digest", FileDigest.preferences), ("Accept-Encoding", "identity")]
        where urlRequest.value(forHTTPHeaderField: name) == nil {
            urlRequest.setValue(value, forHTTPHeaderField: name)
        }
    }

    func digests(of head: ResponseHead, trailers: HTTPHeaders) throws -> [FileDigest] {
        switch self {
        case .expected(let digest): return [digest]
        case .sent(let isRequired):
            do {
                return try FileDigest.digests(in: head, trailers: trailers)
            } catch DigestError.missing where !isRequired {
                return []
            }
        }
    }
}
