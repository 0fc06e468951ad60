import AfarCore
import Foundation

/// Chunks for a streamed request body.
final class ChunkSource: Sendable {
    private let chunks: Locked<ArraySlice<Data>>
    private let error: (any Error)?

    init(_ chunks: [Data], failing error: (any Error)? = nil) {
        self.chunks = Locked(chunks[...])
        self.error = error
    }

    /// How many chunks have not been asked for.
    var left: Int { chunks.withLock { $0.count } }

    /// The next chunk, and after the last one the end or the error.
    func next() throws -> Data? {
        if let chunk = chunks.withLock({ $0.popFirst() }) { return chunk }
        if let error { throw error }
        return nil
    }

    /// A request body of these chunks.
    static func body(_ chunks: [Data], length: Int64? = nil, failing error: (any Error)? = nil) -> RequestBody {
        .stream(
            RequestBodyStream(length: length, isReplayable: true) {
                let source = ChunkSource(chunks, failing: error)
                return { try source.next() }
            })
    }
}
