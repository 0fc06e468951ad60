import Foundation

/// Carries the chunks of a streamed request body from the task that makes them to the loop that sends them. One chunk
/// waits at a time: the next one is requested when the loop has sent the previous one.
package final class BodyPump: Sendable {
    private struct State {
        var chunk = Data()
        var isAtEnd = false
        var fault: Fault?
        var loopWaits = false
        var maker: UnsafeContinuation<Bool, Never>?
        var isCancelled = false
        /// Nil after cancellation: the reader can run for long, and must not retain the exchange.
        var onReady: (@Sendable () -> Void)?

        /// Returns the closure to call now, once each time that the loop waits; nil if it doesn't wait.
        mutating func takeCall() -> (@Sendable () -> Void)? {
            defer { loopWaits = false }
            return loopWaits ? onReady : nil
        }
    }

    private let state = Locked(State())
    private let task = Locked<Task<Void, Never>?>(nil)

    /// - Parameter onReady: Called when bytes, the end or a fault are there and the loop has been told to wait.
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
                    // The chunk that completes the announced length waits until the end has been seen: once it is sent,
                    // more could not be told from less.
                    let isWhole = stream.length.map { sent >= $0 } ?? false
                    if isWhole { next = try await read() }
                    while isWhole, next?.isEmpty == true { next = try await read() }
                    if let length = stream.length, sent > length || (isWhole && next != nil) {
                        throw Fault(.requestBodyFailed, "the body has more than the \(length) bytes that it announced")
                    }
                    guard await put(chunk) else { return }
                    if !isWhole { next = try await read() }
                }
                end(with: nil)
            } catch let fault as Fault {
                end(with: fault)
            } catch {
                end(with: Fault(.requestBodyFailed, "the request's body could not be made", underlying: error))
            }
        }
        self.task.withLock { $0 = task }
        if state.withLock({ $0.isCancelled }) { task.cancel() }
    }

    /// For the loop: copies the next bytes. Returns 0 at the end, and nil if the loop must wait.
    package func read(into buffer: UnsafeMutableRawBufferPointer) throws(Fault) -> Int? {
        let (count, fault, maker) = state.withLock { state -> (Int?, Fault?, UnsafeContinuation<Bool, Never>?) in
            guard !state.chunk.isEmpty else {
                if let fault = state.fault { return (nil, fault, nil) }
                if state.isAtEnd { return (0, nil, nil) }
                state.loopWaits = true
                return (nil, nil, nil)
            }
            let count = min(buffer.count, state.chunk.count)
            state.chunk.copyBytes(to: buffer, count: count)
            state.chunk = count == state.chunk.count ? Data() : state.chunk.dropFirst(count)
            guard state.chunk.isEmpty else { return (count, nil, nil) }
            defer { state.maker = nil }
            return (count, nil, state.maker)
        }
        maker?.resume(returning: true)
        if let fault { throw fault }
        return count
    }

    package func cancel() {
        let maker = state.withLock { state -> UnsafeContinuation<Bool, Never>? in
            state.isCancelled = true
            state.onReady = nil
            defer { state.maker = nil }
            return state.maker
        }
        maker?.resume(returning: false)
        task.withLock { $0 }?.cancel()
    }

    /// Nil once cancelled, so that a body that can be read once stays unread for another sending.
    private func claim(_ stream: RequestBodyStream) -> (@Sendable () -> RequestBodyStream.Reader)? {
        state.withLock { $0.isCancelled ? nil : stream.claim() }
    }

    /// Waits until the loop has taken the chunk. Returns false if it needs no more.
    private func put(_ chunk: Data) async -> Bool {
        guard !chunk.isEmpty else { return true }
        return await withUnsafeContinuation { continuation in
            let (isCancelled, onReady) = state.withLock { state -> (Bool, (@Sendable () -> Void)?) in
                guard !state.isCancelled else { return (true, nil) }
                state.chunk = chunk
                state.maker = continuation
                return (false, state.takeCall())
            }
            if isCancelled { continuation.resume(returning: false) }
            onReady?()
        }
    }

    private func end(with fault: Fault?) {
        let onReady = state.withLock { state in
            state.isAtEnd = true
            state.fault = fault
            return state.takeCall()
        }
        onReady?()
    }
}
