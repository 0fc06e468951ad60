import AfarCore
import Foundation

/// A source of chunks for a streamed request body.
final class ChunkSource: Sendable {
    private let chunks: Locked<ArraySlice<Data>>
    private let error: (any Error)?

    init(_ chunks: [Data], failing error: (any Error)? = nil) {
        self.chunks = Locked(chunks[...])
        self.error = error
    }

    /// The number of chunks that haven't been requested.
    var left: Int { chunks.withLock { $0.count } }

    /// Returns the next chunk. After the last one, it returns `nil` or throws the error.
    func next() throws -> Data? {
        if let chunk = chunks.withLock({ $0.popFirst() }) { return chunk }
        if let error { throw error }
        return nil
    }

    /// Creates a request body from chunks.
    static func body(_ chunks: [Data], length: Int64? = nil, failing error: (any Error)? = nil) -> RequestBody {
        .stream(
            RequestBodyStream(length: length, isReplayable: true) {
                let source = ChunkSource(chunks, failing: error)
                return { try source.next() }
            })
    }
}
