import AfarTransport
import AfarTrust
import Foundation

/// The content coding `aws-chunked`: a body in chunks, optionally followed by a trailer with a checksum. Each chunk can have a signature,
/// which also covers the previous signature.
struct AWSChunkedBody: Sendable {
    /// The size of all chunks except the last one, in bytes. S3 requires at least 8 KiB.
    static let chunkSize = 64 * 1024

    let isSigned: Bool
    let checksum: AWSChecksum?
    var chunkSize = Self.chunkSize

    /// The value of `x-amz-content-sha256`.
    var constant: String {
        let name = isSigned ? "STREAMING-AWS4-HMAC-SHA256-PAYLOAD" : "STREAMING-UNSIGNED-PAYLOAD"
        return checksum == nil ? name : "\(name)-TRAILER"
    }

    /// The number of bytes of the encoded body.
    func encodedLength(of length: Int64) -> Int64 {
        func chunk(_ size: Int64) -> Int64 {
            let signature = isSigned ? Int64(";chunk-signature=".utf8.count + 64) : 0
            return Int64(String(size, radix: 16).utf8.count) + signature + 2 + size + (size == 0 ? 0 : 2)
        }
        let (full, rest) = (length / Int64(chunkSize), length % Int64(chunkSize))
        return full * chunk(Int64(chunkSize)) + (rest == 0 ? 0 : chunk(rest)) + chunk(0) + trailerLength + 2
    }

    private var trailerLength: Int64 {
        guard let checksum else { return 0 }
        let valueLength = checksum == .sha256 ? 44 : 8
        let signature = isSigned ? "x-amz-trailer-signature:".utf8.count + 64 + 2 : 0
        return Int64(checksum.rawValue.utf8.count + 1 + valueLength + 2 + signature)
    }

    /// Returns the encoded body.
    ///
    /// - Parameters:
    ///   - body: The body to encode.
    ///   - length: Its length in bytes.
    ///   - key: The key of the request's signature.
    ///   - seed: The request's signature, which the first chunk's signature covers.
    func encode(_ body: RequestBody, length: Int64, key: SigningKey, seed: String) -> RequestBody {
        .stream(
            RequestBodyStream(length: encodedLength(of: length), isReplayable: body.isReplayable) {
                let chunks = Chunks(self, ChunkReader(body, size: chunkSize), key, seed)
                return { try await chunks.next() }
            })
    }

    /// The state of one pass over the body.
    private final class Chunks: @unchecked Sendable {
        // Sendable because only one task at a time calls a reader.
        private let coding: AWSChunkedBody
        private let reader: ChunkReader
        private let key: SigningKey
        private let checksum: ChecksumState?
        private var previous: String
        private var isComplete = false

        init(_ coding: AWSChunkedBody, _ reader: ChunkReader, _ key: SigningKey, _ seed: String) {
            (self.coding, self.reader, self.key, previous) = (coding, reader, key, seed)
            checksum = coding.checksum.map(ChecksumState.init)
        }

        func next() async throws -> Data? {
            guard !isComplete else { return nil }
            let chunk = try await reader.next()
            checksum?.update(chunk)
            var encoded = Data("\(String(chunk.count, radix: 16))".utf8)
            if coding.isSigned { encoded += Data(";chunk-signature=\(try sign(chunk))".utf8) }
            encoded += Data("\r\n".utf8)
            guard chunk.isEmpty else { return encoded + chunk + Data("\r\n".utf8) }
            isComplete = true
            return encoded + Data("\(try trailer())\r\n".utf8)
        }

        private func sign(_ chunk: Data) throws -> String {
            guard let empty = HashFunction.sha256.hexDigits(of: Data()),
                let hash = HashFunction.sha256.hexDigits(of: chunk)
            else {
                throw AWSSigningError.noHash
            }
            previous = try key.signature(
                of: "AWS4-HMAC-SHA256-PAYLOAD\n\(key.timestamp.text)\n\(key.scope)\n\(previous)\n\(empty)\n"
                    + hash)
            return previous
        }

        private func trailer() throws -> String {
            guard let name = coding.checksum?.rawValue else { return "" }
            guard let value = checksum?.value,
                let hash = HashFunction.sha256.hexDigits(of: Data("\(name):\(value)\n".utf8))
            else {
                throw AWSSigningError.noHash
            }
            guard coding.isSigned else { return "\(name):\(value)\r\n" }
            previous = try key.signature(
                of: "AWS4-HMAC-SHA256-TRAILER\n\(key.timestamp.text)\n\(key.scope)\n\(previous)\n\(hash)")
            return "\(name):\(value)\r\nx-amz-trailer-signature:\(previous)\r\n"
        }
    }
}
