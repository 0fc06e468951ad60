import Foundation

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
