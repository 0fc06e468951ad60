package import Foundation

/// The destination of a response's body, with the number of bytes written.
package struct BodySink {
    package enum WriteResult {
        case written
        /// Nothing was written. Stop reading until the stream requests more.
        case full
    }

    private enum Target {
        /// Discards up to this many bytes.
        case discarded(Int64)
        case memory(GrowingBuffer)
        case file(descriptor: Int32)
        /// Collects small pieces in the buffer, because each chunk can wake the reader.
        case stream(ResponseBodyStream.Source, ChunkBuffer)
    }

    private let target: Target
    private let limit: Int64?
    /// The number of decoded bytes so far.
    package private(set) var byteCount: Int64 = 0

    /// Creates the sink for a delivery. The sink for a stream is a placeholder until the stream's source exists.
    package init(_ delivery: ResponseDelivery) {
        switch delivery {
        case .collect(let limit): self.init(collecting: limit)
        case .file(let descriptor, let limit): self.init(descriptor: descriptor, limit: limit)
        case .stream, .connection: self.init(discarding: 0)
        }
    }

    package init(collecting limit: Int64?) {
        target = .memory(GrowingBuffer())
        self.limit = limit
    }

    package init(descriptor: Int32, limit: Int64?) {
        target = .file(descriptor: descriptor)
        self.limit = limit
    }

    package init(discarding limit: Int64) {
        target = .discarded(limit)
        self.limit = nil
    }

    package init(source: ResponseBodyStream.Source, highWaterMark: Int) {
        target = .stream(source, ChunkBuffer(highWaterMark: highWaterMark))
        limit = nil
    }

    package var source: ResponseBodyStream.Source? {
        if case .stream(let source, _) = target { source } else { nil }
    }

    package var isMemory: Bool { if case .memory = target { true } else { false } }
    package var isFile: Bool { if case .file = target { true } else { false } }

    /// Passes the collected pieces to the reader of a streamed body.
    package func flush() {
        if case .stream(let source, let buffered) = target { source.yield(buffered.take()) }
    }

    /// Whether writing can return ``WriteResult/full``.
    package var canBeFull: Bool { source != nil }

    /// Reserves memory for a body of a declared length.
    package func expect(_ length: Int64?) {
        if case .memory(let buffer) = target, let length { buffer.reserve(Int(clamping: length)) }
    }

    /// Memory for the next bytes; nil for a file or a discarded body, or if no memory is available. Bytes in this memory aren't copied when
    /// you write them.
    package var room: UnsafeMutableRawBufferPointer? {
        switch target {
        case .discarded, .file: nil
        case .memory(let buffer): buffer.room
        case .stream(_, let buffered): buffered.room
        }
    }

    /// Writes bytes to the destination.
    package mutating func write(_ bytes: UnsafeRawBufferPointer, evenIfFull: Bool = false) throws(Fault) -> WriteResult
    {
        if let limit, byteCount + Int64(bytes.count) > limit {
            throw Fault(.responseTooLarge, "the response's body exceeds the limit of \(limit) bytes")
        }
        switch target {
        case .discarded(let limit):
            guard byteCount + Int64(bytes.count) <= limit else { throw .discarded }
        case .memory(let buffer):
            guard buffer.append(bytes) else { throw Fault(.outOfResources, "no memory for the response's body") }
        case .file(let descriptor):
            if let code = bytes.write(to: descriptor) {
                throw Fault(.deliveryFailed, "the response's body could not be written", systemError: code)
            }
        case .stream(let source, let buffered):
            if !evenIfFull, source.isFull { return .full }
            guard buffered.append(bytes, to: source) else {
                throw Fault(.outOfResources, "no memory for a chunk of the response's body")
            }
        }
        byteCount += Int64(bytes.count)
        return .written
    }

    /// Returns the body for the response; nil for a stream. Call this method only once, because the returned body takes over the memory.
    package func complete() -> TransportResponse.Body? {
        switch target {
        case .discarded: .data(Data())
        case .memory(let buffer): .data(buffer.take())
        case .file: .file(byteCount: byteCount)
        case .stream: nil
        }
    }
}

/// A buffer that grows by doubling its capacity, and becomes a `Data` without a copy.
package final class GrowingBuffer {
    /// The maximum number of bytes to reserve for a declared length. Beyond this size, the buffer grows as bytes arrive.
    private static let largestReservation = 16 * 1024 * 1024

    private var start: UnsafeMutableRawPointer?
    private var capacity = 0
    package private(set) var count = 0

    package init() {}

    deinit { free(start) }

    package func reserve(_ length: Int) {
        _ = grow(to: min(length, Self.largestReservation))
    }

    /// The reserved memory after the appended bytes, into which you can read the next bytes; nil if nothing is reserved.
    package var room: UnsafeMutableRawBufferPointer? {
        start.map { UnsafeMutableRawBufferPointer(start: $0 + count, count: capacity - count) }
    }

    /// Appends bytes. Doesn't copy bytes that are already at the start of ``room``. Returns false if memory ran out.
    package func append(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard let source = bytes.baseAddress, bytes.count > 0 else { return true }
        let needed = count + bytes.count
        if needed > capacity {
            guard grow(to: max(needed, capacity * 2, 1024)) else { return false }
        }
        guard let start else { return false }
        if source != start + count { memcpy(start + count, source, bytes.count) }
        count = needed
        return true
    }

    package func take() -> Data {
        guard let start, count > 0 else { return Data() }
        defer { (self.start, capacity, count) = (nil, 0, 0) }
        if capacity > count * 2, let trimmed = realloc(start, count) {
            return Data(bytesNoCopy: trimmed, count: count, deallocator: .free)
        }
        return Data(bytesNoCopy: start, count: count, deallocator: .free)
    }

    private func grow(to newCapacity: Int) -> Bool {
        guard newCapacity > capacity else { return true }
        guard let moved = realloc(start, newCapacity) else { return false }
        start = moved
        capacity = newCapacity
        return true
    }
}

/// Collects the pieces of a streamed body into chunks. Memory blocks are reused after their chunks have been read, because allocating
/// memory costs more than filling it.
package final class ChunkBuffer {
    /// The unused blocks of one body. They are in a separate object, because chunks outlive the transfer.
    private final class Blocks: Sendable {
        private struct State {
            var waiting: [UInt] = []
            var limit = 8
        }

        let size: Int
        private let state = InlineLocked(State())

        init(size: Int) { self.size = size }

        /// Frees the unused blocks now. The other blocks are freed when their chunks are released. Called at the end of the body.
        func close() {
            let waiting = state.withLock { state in
                state.limit = 0
                return Swift.exchange(&state.waiting, with: [])
            }
            for block in waiting { free(UnsafeMutableRawPointer(bitPattern: block)) }
        }

        /// Returns a block, or nil if memory ran out.
        func take() -> UnsafeMutableRawPointer? {
            state.withLock { $0.waiting.popLast() }.flatMap(UnsafeMutableRawPointer.init(bitPattern:)) ?? malloc(size)
        }

        func recycle(_ block: UnsafeMutableRawPointer) {
            let isReused = state.withLock { state in
                guard state.waiting.count < state.limit else { return false }
                state.waiting.append(UInt(bitPattern: block))
                return true
            }
            if !isReused { free(block) }
        }
    }

    private static let sizes = 16 * 1024...256 * 1024

    private let blocks: Blocks
    /// The number of bytes at which a chunk is passed to the reader.
    private let chunkSize: Int
    private var block: UnsafeMutableRawPointer?
    private var count = 0

    /// - Parameter highWaterMark: The maximum number of unread bytes. The reader reads one half while the other half is filled.
    package init(highWaterMark: Int) {
        blocks = Blocks(size: min(max(highWaterMark / 2, Self.sizes.lowerBound), Self.sizes.upperBound))
        chunkSize = max(1, min(highWaterMark, blocks.size))
    }

    deinit {
        free(block)
        blocks.close()
    }

    /// The memory after the chunk's bytes, into which you can read the next bytes; nil if memory ran out.
    package var room: UnsafeMutableRawBufferPointer? {
        block = block ?? blocks.take()
        return block.map { UnsafeMutableRawBufferPointer(start: $0 + count, count: blocks.size - count) }
    }

    /// Appends bytes, and passes full chunks to the reader. Doesn't copy bytes that are already at the start of ``room``. Returns false if
    /// memory ran out.
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

    /// Returns the collected bytes as a chunk. Small chunks are copied, so that a reader that stores them doesn't retain large blocks.
    package func take() -> Data {
        guard let block, count > 0 else { return Data() }
        defer { count = 0 }
        guard count > blocks.size / 2 else { return Data(bytes: block, count: count) }
        self.block = nil
        let deallocator = Data.Deallocator.custom { [blocks] block, _ in blocks.recycle(block) }
        return Data(bytesNoCopy: block, count: count, deallocator: deallocator)
    }
}
