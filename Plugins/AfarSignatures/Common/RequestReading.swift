import AfarKeys
import AfarTransport
import AfarTrust
import Foundation
import HTTPTypes

/// Reads a body in chunks of one size. Used by one task at a time.
final class ChunkReader: @unchecked Sendable {
    // Sendable because only one task at a time uses the reader.
    private let size: Int
    private let read: RequestBodyStream.Reader
    private var waiting = Data()
    private var hasEnded = false

    init(_ body: RequestBody, size: Int) {
        self.size = size
        switch body {
        case .none:
            read = { nil }
        case .data(let data):
            read = { nil }
            waiting = data
        case .file(let url):
            if let stream = InputStream(url: url) {
                read = RequestBodyStream(stream).reader()
            } else {
                read = { throw CocoaError(.fileReadNoSuchFile) }
            }
        case .stream(let stream): read = stream.reader()
        }
    }

    /// Returns the next chunk. The last chunk can be smaller than the others. After the last chunk, returns empty data.
    func next() async throws -> Data {
        while waiting.count < size, !hasEnded {
            guard let piece = try await read() else {
                hasEnded = true
                break
            }
            if waiting.isEmpty { waiting = piece } else { waiting.append(piece) }
        }
        let chunk = Data(waiting.prefix(size))
        // This doesn't copy the remaining bytes: the slice shares their memory, and only its indices grow.
        waiting = waiting.dropFirst(size)
        return chunk
    }
}

extension RequestBody {
    /// Whether the body can be read before it is sent.
    var canBeHashed: Bool {
        guard case .stream(let stream) = self else { return true }
        return stream.isReplayable && !stream.isDuplex && stream.trailers == nil
    }

    /// Returns the hash of the whole body, which is read if it is a file or a stream.
    func hash(with function: HashFunction) async throws -> Data {
        guard let digest = BodyHash(function) else { throw SignatureKeyError.unavailable("a hash function") }
        let reader = ChunkReader(self, size: 256 * 1024)
        while true {
            let chunk = try await reader.next()
            if chunk.isEmpty { break }
            digest.update(chunk)
            try Task.checkCancellation()
        }
        guard let hash = digest.finalize() else { throw SignatureKeyError.unavailable("a hash function") }
        return hash
    }
}

/// The hash of bytes that arrive in pieces. Used by one thread at a time.
final class RunningHash {
    private var hash: IncrementalHash?

    /// Returns nil if the function isn't available.
    init?(_ function: HashFunction) {
        guard let hash = IncrementalHash(function) else { return nil }
        self.hash = consume hash
    }

    func update(_ bytes: Data) { bytes.withUnsafeBytes { hash?.update($0) } }

    /// Returns the hash of all bytes that were added, or nil if the function failed. Can be called once.
    func finalize() -> Data? { hash.take()?.finalize().map { Data($0) } }
}

/// A hash that moves between the threads of one task.
private struct BodyHash: @unchecked Sendable {
    // Sendable because only one task uses it.
    private let hash: RunningHash

    init?(_ function: HashFunction) {
        guard let hash = RunningHash(function) else { return nil }
        self.hash = hash
    }

    func update(_ bytes: Data) { hash.update(bytes) }
    func finalize() -> Data? { hash.finalize() }
}

extension HTTPRequest {
    /// The authority as it is sent in the `Host` field. The zone of an IPv6 address isn't sent.
    var sentAuthority: String {
        let authority = authority ?? ""
        guard authority.utf8.first == UInt8(ascii: "["), let zone = authority.firstIndex(of: "%"),
            let end = authority[zone...].firstIndex(of: "]")
        else { return authority }
        return String(authority[..<zone] + authority[end...])
    }
}
