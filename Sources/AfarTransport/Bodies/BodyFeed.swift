package import Foundation
package import HTTPTypes

/// The source of a request's body while a transport sends it.
package final class BodyFeed {
    package enum ReadResult {
        case bytes(Int)
        /// No bytes are available yet. The ``BodyPump`` calls `onReady` when bytes become available.
        case wait
    }

    private enum Source {
        case memory(Data)
        case file(descriptor: Int32)
        case pump(BodyPump)
    }

    private let source: Source
    /// The length to send; nil for a chunked body.
    package let length: Int64?
    /// The number of bytes read since the body's start.
    package private(set) var byteCount: Int64 = 0

    /// The trailer fields. They are complete when ``read(into:)`` has returned 0 bytes.
    package var trailers: HTTPFields { if case .pump(let pump) = source { pump.trailers } else { HTTPFields() } }

    package init(data: Data) {
        source = .memory(data)
        length = Int64(data.count)
    }

    /// Opens a file, which must be a regular file. Opening or reading any other kind of file can block the loop's thread and
    /// all its transfers.
    package init(file url: URL) throws(Fault) {
        let descriptor = open(url.path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            throw Fault(.requestBodyFailed, "the file \(url.path) could not be opened", systemError: errno)
        }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            Foundation.close(descriptor)
            throw Fault(.requestBodyFailed, "\(url.path) is not a regular file")
        }
        length = Int64(status.st_size)
        source = .file(descriptor: descriptor)
    }

    package init(pump: BodyPump, length: Int64?) {
        source = .pump(pump)
        self.length = length
    }

    package func read(into buffer: UnsafeMutableRawBufferPointer) throws(Fault) -> ReadResult {
        var room = buffer
        if let length {
            guard byteCount < length else { return .bytes(0) }
            room = UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(Int(clamping: length - byteCount)))
        }
        let count: Int
        switch source {
        case .memory(let data):
            let offset = data.startIndex + Int(byteCount)
            count = data.copyBytes(to: room, from: offset..<min(offset + room.count, data.endIndex))
        case .file(let descriptor):
            count = Foundation.read(descriptor, room.baseAddress, room.count)
            if count < 0 { throw Fault(.requestBodyFailed, "the file could not be read", systemError: errno) }
        case .pump(let pump):
            guard let pumped = try pump.read(into: room) else { return .wait }
            count = pumped
        }
        byteCount += Int64(count)
        if count == 0, let length, byteCount < length {
            throw .bodyEnded(after: byteCount, of: length)
        }
        return .bytes(count)
    }

    /// Moves to an offset, so that the body can be sent again over another connection. Returns false if the source can't move there.
    package func seek(to offset: Int64) -> Bool {
        switch source {
        case .memory(let data):
            guard (0...Int64(data.count)).contains(offset) else { return false }
        case .file(let descriptor):
            guard offset >= 0, lseek(descriptor, off_t(offset), SEEK_SET) == off_t(offset) else { return false }
        case .pump:
            guard offset == byteCount else { return false }
        }
        byteCount = offset
        return true
    }

    /// Closes the source. Call this method once, after the last read.
    package func close() {
        switch source {
        case .memory: break
        case .file(let descriptor): _ = Foundation.close(descriptor)
        case .pump(let pump): pump.cancel()
        }
    }
}

/// Passes a streamed request body from the task that produces its chunks to the loop that sends them. The pump holds one chunk at a time.
/// It requests the next chunk when the loop has read the previous one.
package final class BodyPump: Sendable {
    private struct State {
        var chunk = Data()
        var isAtEnd = false
        var trailers = HTTPFields()
        var fault: Fault?
        var isLoopWaiting = false
        var producer: UnsafeContinuation<Bool, Never>?
        var isCancelled = false
        /// Set to nil on cancellation, because the closure retains the exchange. The stream's reader can continue for a long time.
        var onReady: (@Sendable () -> Void)?

        /// Returns the closure to call now, or nil if the loop isn't waiting. Each wait ends with at most one call.
        mutating func takeCall() -> (@Sendable () -> Void)? {
            defer { isLoopWaiting = false }
            return isLoopWaiting ? onReady : nil
        }
    }

    private let state = Locked(State())
    private let task = Locked<Task<Void, Never>?>(nil)

    private var isCancelled: Bool { state.withLock { $0.isCancelled } }

    /// - Parameter onReady: Called when bytes, the end or a fault become available while the loop waits.
    package init(onReady: @escaping @Sendable () -> Void) {
        state.withLock { $0.onReady = onReady }
    }

    package func start(_ stream: RequestBodyStream) {
        let task = Task {
            do {
                guard let makeReader = claim(stream) else { return }
                let read = makeReader()
                var sent: Int64 = 0
                var next = try await read()
                while let chunk = next {
                    sent += Int64(chunk.count)
                    // Hold the chunk that completes the declared length until the stream has ended. Once this chunk is sent, the server
                    // treats the body as complete, even if the stream yields more. Don't hold a duplex stream's chunk, because the stream
                    // can end after the response.
                    let isComplete = !stream.isDuplex && stream.length.map { sent >= $0 } ?? false
                    if isComplete { next = try await read() }
                    while isComplete, next?.isEmpty == true, !isCancelled { next = try await read() }
                    if let length = stream.length, sent > length || (isComplete && next != nil) {
                        throw Fault(.requestBodyFailed, "the body has more than its declared length of \(length) bytes")
                    }
                    guard await put(chunk) else { return }
                    if !isComplete { next = try await read() }
                }
                if let length = stream.length, sent < length { throw Fault.bodyEnded(after: sent, of: length) }
                // Canceling the task can end the stream early.
                guard !isCancelled else { return }
                end(with: nil, trailers: try await stream.trailers?() ?? HTTPFields())
            } catch let fault as Fault {
                end(with: fault)
            } catch {
                end(with: Fault(.requestBodyFailed, "reading the request's body failed", underlying: error))
            }
        }
        self.task.withLock { $0 = task }
        if isCancelled { task.cancel() }
    }

    /// Copies the next bytes to a buffer of the loop. Returns the number of copied bytes, 0 at the end, or nil if the loop must wait.
    package func read(into buffer: UnsafeMutableRawBufferPointer) throws(Fault) -> Int? {
        let (count, fault, producer) = state.withLock { state -> (Int?, Fault?, UnsafeContinuation<Bool, Never>?) in
            guard !state.chunk.isEmpty else {
                if let fault = state.fault { return (nil, fault, nil) }
                if state.isAtEnd { return (0, nil, nil) }
                state.isLoopWaiting = true
                return (nil, nil, nil)
            }
            let count = min(buffer.count, state.chunk.count)
            state.chunk.copyBytes(to: buffer, count: count)
            state.chunk = count == state.chunk.count ? Data() : state.chunk.dropFirst(count)
            guard state.chunk.isEmpty else { return (count, nil, nil) }
            defer { state.producer = nil }
            return (count, nil, state.producer)
        }
        producer?.resume(returning: true)
        if let fault { throw fault }
        return count
    }

    fileprivate var trailers: HTTPFields { state.withLock { $0.trailers } }

    package func cancel() {
        let producer = state.withLock { state -> UnsafeContinuation<Bool, Never>? in
            state.isCancelled = true
            state.onReady = nil
            defer { state.producer = nil }
            return state.producer
        }
        producer?.resume(returning: false)
        task.withLock { $0 }?.cancel()
    }

    /// Claims the stream. After cancellation, returns nil without claiming it, so that a retry can read it even if it can be
    /// read only once.
    private func claim(_ stream: RequestBodyStream) -> (@Sendable () -> RequestBodyStream.Reader)? {
        state.withLock { $0.isCancelled ? nil : stream.claim() }
    }

    /// Waits until the loop has consumed the chunk. Returns false if the loop needs no more chunks.
    private func put(_ chunk: Data) async -> Bool {
        guard !chunk.isEmpty else { return !isCancelled }
        return await withUnsafeContinuation { continuation in
            let (isCancelled, onReady) = state.withLock { state -> (Bool, (@Sendable () -> Void)?) in
                guard !state.isCancelled else { return (true, nil) }
                state.chunk = chunk
                state.producer = continuation
                return (false, state.takeCall())
            }
            if isCancelled { continuation.resume(returning: false) }
            onReady?()
        }
    }

    private func end(with fault: Fault?, trailers: HTTPFields = HTTPFields()) {
        let onReady = state.withLock { state in
            state.isAtEnd = true
            (state.fault, state.trailers) = (fault, trailers)
            return state.takeCall()
        }
        onReady?()
    }
}

extension Fault {
    fileprivate static func bodyEnded(after count: Int64, of length: Int64) -> Fault {
        Fault(.requestBodyFailed, "the body ended after \(count) of \(length) bytes")
    }
}
