package import Foundation

/// Gathers the pieces of a streamed body to chunks, in blocks of memory that come back when their chunks have been read: new
/// memory costs more than what is done with it.
package final class ChunkBuffer {
    /// The blocks of one body that wait to be used again. Chunks outlive the transfer.
    private final class Blocks: Sendable {
        private struct State {
            /// The blocks' addresses.
            var waiting: [UInt] = []
            var limit = 8
        }

        let size: Int
        private let state = InlineLocked(State())

        init(size: Int) { self.size = size }

        /// The body has ended, and no block is needed.
        func close() {
            let waiting = state.withLock { state in
                state.limit = 0
                return Swift.exchange(&state.waiting, with: [])
            }
            for block in waiting { free(UnsafeMutableRawPointer(bitPattern: block)) }
        }

        /// Nil when memory ran out.
        func take() -> UnsafeMutableRawPointer? {
            state.withLock { $0.waiting.popLast() }.flatMap(UnsafeMutableRawPointer.init(bitPattern:)) ?? malloc(size)
        }

        func giveBack(_ block: UnsafeMutableRawPointer) {
            let isKept = state.withLock { state in
                guard state.waiting.count < state.limit else { return false }
                state.waiting.append(UInt(bitPattern: block))
                return true
            }
            if !isKept { free(block) }
        }
    }

    private static let sizes = 16 * 1024...256 * 1024

    private let blocks: Blocks
    /// With so many bytes a chunk is handed on.
    private let chunkSize: Int
    private var block: UnsafeMutableRawPointer?
    private var count = 0

    /// - Parameter highWaterMark: How many bytes may wait for their reader. It has half of them to read while the other half
    ///   is filled.
    package init(highWaterMark: Int) {
        blocks = Blocks(size: min(max(highWaterMark / 2, Self.sizes.lowerBound), Self.sizes.upperBound))
        chunkSize = max(1, min(highWaterMark, blocks.size))
    }

    deinit {
        free(block)
        blocks.close()
    }

    /// Memory for the next bytes of the chunk, which can be read into it before they are appended; nil when memory ran out.
    package var room: UnsafeMutableRawBufferPointer? {
        block = block ?? blocks.take()
        return block.map { UnsafeMutableRawBufferPointer(start: $0 + count, count: blocks.size - count) }
    }

    /// Copies bytes, unless they are the first of ``room``, and hands on each chunk that is full. Returns false when memory ran out.
    package func append(_ bytes: UnsafeRawBufferPointer, to source: ResponseBodyStream.Source) -> Bool {
        var rest = bytes
        while let start = rest.baseAddress, rest.count > 0 {
            guard let block = block ?? blocks.take() else { return false }
            self.block = block
            let length = min(rest.count, blocks.size - count)
            if start != block + count { memcpy(block + count, start, length) }
            count += length
            rest = UnsafeRawBufferPointer(rebasing: rest[length...])
            if count == blocks.size { source.yield(take()) }
        }
        if count >= chunkSize { source.yield(take()) }
        return true
    }

    /// What has been gathered. A reader may keep chunks, so a small one does not hold a large block.
    package func take() -> Data {
        guard let block, count > 0 else { return Data() }
        defer { count = 0 }
        guard count > blocks.size / 2 else { return Data(bytes: block, count: count) }
        self.block = nil
        let deallocator = Data.Deallocator.custom { [blocks] block, _ in blocks.giveBack(block) }
        return Data(bytesNoCopy: block, count: count, deallocator: deallocator)
    }
}
