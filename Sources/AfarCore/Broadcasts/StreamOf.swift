/// An asynchronous sequence of a request's events, such as its progress, its `URLRequest`s or its bytes.
///
/// ```swift
/// for await progress in request.downloadProgress() {
///     print(progress.fractionCompleted)
/// }
/// ```
///
/// Each iteration is a separate stream that starts with the loop and ends with the request. The stream also ends when its
/// iterator is released or the awaiting task is canceled.
public struct StreamOf<Element: Sendable>: AsyncSequence, Sendable {
    /// The policy for buffering elements until the iteration receives them.
    public typealias BufferingPolicy = AsyncStream<Element>.Continuation.BufferingPolicy
    /// The type of the iterator.
    public typealias AsyncIterator = Iterator
    /// The type of errors. A stream never throws.
    public typealias Failure = Never
    typealias Continuation = AsyncStream<Element>.Continuation

    private let makeIterator: @Sendable () -> Iterator

    /// Creates a stream that buffers elements until the iteration receives them.
    ///
    /// - Parameters:
    ///   - onTermination: Called when the iteration ends early. Omit this closure if the builder sets the continuation's
    ///     `onTermination`.
    ///   - builder: Called at the start of each iteration. The continuation receives the elements.
    init(
        bufferingPolicy: BufferingPolicy = .unbounded,
        onTermination: (@Sendable () -> Void)? = nil,
        builder: @escaping @Sendable (Continuation) -> Void
    ) {
        makeIterator = {
            let stream = AsyncStream(Element.self, bufferingPolicy: bufferingPolicy) { continuation in
                if let onTermination {
                    continuation.onTermination = { if case .cancelled = $0 { onTermination() } }
                }
                builder(continuation)
            }
            return Iterator(base: .buffered(stream.makeAsyncIterator()))
        }
    }

    /// Creates a stream without a buffer. The producer waits until each element has been received. `onTermination` is called when
    /// the iteration ends early.
    init(onTermination: @escaping @Sendable () -> Void, builder: @escaping @Sendable (Handoff<Element>) -> Void) {
        makeIterator = {
            let handoff = Handoff<Element>()
            builder(handoff)
            return Iterator(base: .unbuffered(Receiver(handoff, onTermination: onTermination)))
        }
    }

    /// Creates an iterator with its own stream of elements.
    public func makeAsyncIterator() -> Iterator { makeIterator() }

    /// An iterator over a request's events.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate enum Base {
            case buffered(AsyncStream<Element>.Iterator)
            case unbuffered(Receiver)
        }

        fileprivate var base: Base

        /// Returns the next element, or nil at the end.
        public mutating func next() async -> Element? { await next(isolation: nil) }

        /// Returns the next element, or nil at the end.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> Element? {
            switch base {
            case .unbuffered(let receiver): return await receiver.next()
            case .buffered(var iterator):
                defer { base = .buffered(iterator) }
                return await iterator.next(isolation: actor)
            }
        }
    }

    /// Receives elements from a handoff. Ends the iteration when its iterator is released.
    fileprivate final class Receiver: Sendable {
        private let handoff: Handoff<Element>
        private let onTermination: @Sendable () -> Void

        init(_ handoff: Handoff<Element>, onTermination: @escaping @Sendable () -> Void) {
            self.handoff = handoff
            self.onTermination = onTermination
        }

        deinit { terminate() }

        func next() async -> Element? {
            await withTaskCancellationHandler {
                await handoff.receive()
            } onCancel: {
                terminate()
            }
        }

        private func terminate() {
            if handoff.close() { onTermination() }
        }
    }
}

/// Passes elements from one task to another, one at a time. The sender waits until each element has been received.
final class Handoff<Element: Sendable>: Sendable {
    private typealias Waiting = UnsafeContinuation<Void, Never>

    private struct State {
        var pending: [Element] = []
        var isClosed = false
        var sender: Waiting?
        var receiver: Waiting?
    }

    private let state = Locked(State())

    /// Sends an element and waits until it has been received, the handoff is closed, or the task is canceled.
    func send(_ element: Element) async {
        let receiver = state.withLock { state in
            if !state.isClosed { state.pending.append(element) }
            return state.receiver.take()
        }
        receiver?.resume()
        await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                let mustWait = state.withLock { state in
                    guard !state.pending.isEmpty, !state.isClosed, !Task.isCancelled else { return false }
                    state.sender = continuation
                    return true
                }
                if !mustWait { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.sender.take() }?.resume()
        }
    }

    /// Sends the last elements without waiting.
    func finish(with elements: [Element]) {
        let receiver = state.withLock { state in
            if !state.isClosed { state.pending += elements }
            state.isClosed = true
            return state.receiver.take()
        }
        receiver?.resume()
    }

    /// Returns the next element, or nil after the last one. Only one task can call this method at a time. Canceling the task
    /// doesn't end the wait. Call ``close()`` instead.
    func receive() async -> Element? {
        while true {
            let (element, isClosed, sender) = state.withLock { state -> (Element?, Bool, Waiting?) in
                guard !state.pending.isEmpty else { return (nil, state.isClosed, nil) }
                return (state.pending.removeFirst(), false, state.sender.take())
            }
            sender?.resume()
            if element != nil || isClosed { return element }
            await withUnsafeContinuation { continuation in
                let mustWait = state.withLock { state in
                    guard state.pending.isEmpty, !state.isClosed else { return false }
                    state.receiver = continuation
                    return true
                }
                if !mustWait { continuation.resume() }
            }
        }
    }

    /// Closes the handoff from the receiver's side and discards pending elements. Returns whether it was still open.
    @discardableResult
    func close() -> Bool {
        let (wasOpen, dropped, sender, receiver) = state.withLock { state in
            let wasOpen = !state.isClosed
            state.isClosed = true
            return (wasOpen, Swift.exchange(&state.pending, with: []), state.sender.take(), state.receiver.take())
        }
        withExtendedLifetime(dropped) {}
        sender?.resume()
        receiver?.resume()
        return wasOpen
    }
}
