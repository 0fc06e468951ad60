import AfarKeys
import AfarTransport
import Foundation
import HTTPTypes

/// Reads a body in chunks of one size. Used by one task at a time.
final class ChunkReader: @unchecked Sendable {
    // Sendable because only one task at a time reads.
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

    /// Returns the next chunk, which is smaller than the others at the end of the body, and then an empty one.
    func next() async throws -> Data {
        while waiting.count < size, !hasEnded {
            guard let piece = try await read() else {
                hasEnded = true
                break
            }
            if waiting.isEmpty { waiting = piece } else { waiting.append(piece) }
        }
        let chunk = Data(waiting.prefix(size))
        // The indices of a slice grow, but its memory is shared.
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
    func hash(with function: Hashing.Function) async throws -> Data {
        guard let digest = BodyDigest(function) else { throw SignatureKeyError.unavailable("a hash function") }
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

/// A digest that moves between the threads of one task.
private struct BodyDigest: @unchecked Sendable {
    // Sendable because only one task uses it.
    private let digest: Hashing.Digest

    init?(_ function: Hashing.Function) {
        guard let digest = Hashing.Digest(function) else { return nil }
        self.digest = digest
    }

    func update(_ bytes: Data) { digest.update(bytes) }
    func finalize() -> Data? { digest.finalize() }
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
