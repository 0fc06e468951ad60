package import Foundation

/// Where a response's body goes, and how much of it has come.
package struct BodySink {
    package enum Answer {
        case taken
        /// Nothing was taken; stop reading until asked again.
        case full
    }

    private enum Target {
        /// Up to so many bytes are dropped.
        case nowhere(Int64)
        case memory(GrowingBuffer)
        case file(descriptor: Int32)
        /// Pieces are gathered in the buffer, because each chunk may wake the reader.
        case stream(ResponseBodyStream.Source, ChunkBuffer)
    }

    private let target: Target
    private let limit: Int64?
    /// Decoded bytes so far.
    package private(set) var byteCount: Int64 = 0

    /// Creates the sink of a delivery. That of a stream is replaced when its source has been made.
    package init(_ delivery: ResponseDelivery) {
        switch delivery {
        case .collect(let limit): self.init(collecting: limit)
        case .file(let descriptor, let limit): self.init(descriptor: descriptor, limit: limit)
        case .stream, .connection: self.init(collecting: 0)
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
        target = .nowhere(limit)
        self.limit = nil
    }

    package init(source: ResponseBodyStream.Source, highWaterMark: Int) {
        target = .stream(source, ChunkBuffer(highWaterMark: highWaterMark))
        limit = nil
    }

    /// The source of a streamed body.
    package var source: ResponseBodyStream.Source? {
        if case .stream(let source, _) = target { source } else { nil }
    }

    package var isMemory: Bool { if case .memory = target { true } else { false } }

    package var isFile: Bool { if case .file = target { true } else { false } }

    /// Hands gathered pieces to the reader of a streamed body.
    package func flush() {
        if case .stream(let source, let gathered) = target { source.yield(gathered.take()) }
    }

    /// Whether bytes may have to wait for their reader.
    package var mayRefuse: Bool { source != nil }

    /// Makes room for a body of a declared length.
    package func expect(_ length: Int64?) {
        if case .memory(let buffer) = target, let length { buffer.reserve(Int(clamping: length)) }
    }

    /// Memory into which the next bytes can be read before they are written, which needs no copy then. Nil for a file or without memory.
    package var room: UnsafeMutableRawBufferPointer? {
        switch target {
        case .nowhere, .file: nil
        case .memory(let buffer): buffer.room
        case .stream(_, let gathered): gathered.room
        }
    }

    /// - Parameter evenIfFull: Whether a stream takes the bytes although its reader has enough to do.
    package mutating func write(_ bytes: UnsafeRawBufferPointer, evenIfFull: Bool = false) throws(Fault) -> Answer {
        if let limit, byteCount + Int64(bytes.count) > limit {
            throw Fault(.responseTooLarge, "the response's body exceeds the limit of \(limit) bytes")
        }
        switch target {
        case .nowhere(let limit):
            guard byteCount + Int64(bytes.count) <= limit else { throw .discarded }
        case .memory(let buffer):
            guard buffer.append(bytes) else { throw Fault(.outOfResources, "no memory for the response's body") }
        case .file(let descriptor):
            if let code = bytes.write(to: descriptor) {
                throw Fault(.deliveryFailed, "the response's body could not be written", systemError: code)
            }
        case .stream(let source, let gathered):
            if !evenIfFull, source.isFull { return .full }
            guard gathered.append(bytes, to: source) else {
                throw Fault(.outOfResources, "no memory for a part of the body")
            }
        }
        byteCount += Int64(bytes.count)
        return .taken
    }

    /// The body as the response shows it. Memory is handed over, so call it once.
    package func complete() -> TransportResponse.Body? {
        switch target {
        case .nowhere: .data(Data())
        case .memory(let buffer): .data(buffer.take())
        case .file: .file(byteCount: byteCount)
        case .stream: nil
        }
    }
}

// MARK: - Bodies in memory

/// Bytes that grow by doubling and end as a `Data` without being copied.
package final class GrowingBuffer {
    /// A declared length is believed up to here; beyond, memory grows with what really arrives.
    private static let largestReservation = 16 * 1024 * 1024

    private var start: UnsafeMutableRawPointer?
    private var capacity = 0
    package private(set) var count = 0

    package init() {}

    deinit { free(start) }

    package func reserve(_ length: Int) {
        _ = grow(to: min(length, Self.largestReservation))
    }

    /// The reserved memory for the next bytes, which can be read into it before they are appended; nil if nothing is reserved.
    package var room: UnsafeMutableRawBufferPointer? {
        start.map { UnsafeMutableRawBufferPointer(start: $0 + count, count: capacity - count) }
    }

    /// Copies bytes, unless they are the first of ``room``. Returns false when memory ran out.
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

// MARK: - Chunks of a stream

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
