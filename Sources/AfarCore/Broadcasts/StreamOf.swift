/// An asynchronous sequence of a request's events, such as its progress, its `URLRequest`s or its bytes.
///
/// ```swift
/// for await progress in request.downloadProgress() {
///     print(progress.fractionCompleted)
/// }
/// ```
///
/// Each iteration is a separate stream that starts with the loop and ends with the request. It also ends when its iterator is
/// released or the awaiting task is cancelled.
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
    ///   - builder: Called at the start of each iteration with the continuation that receives its elements.
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

    /// Creates a stream without a buffer. The producer waits until each element has been received.
    ///
    /// - Parameters:
    ///   - onTermination: Called when the iteration ends early.
    ///   - builder: Called at the start of each iteration with the handoff that receives its elements.
    init(onTermination: @escaping @Sendable () -> Void, builder: @escaping @Sendable (Handoff<Element>) -> Void) {
        makeIterator = {
            let handoff = Handoff<Element>()
            builder(handoff)
            return Iterator(base: .handedOver(Taker(handoff, onTermination: onTermination)))
        }
    }

    /// Creates an iterator, which receives its own stream of elements.
    public func makeAsyncIterator() -> Iterator { makeIterator() }

    /// An iterator over a request's events.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate enum Base {
            case buffered(AsyncStream<Element>.Iterator)
            case handedOver(Taker)
        }

        fileprivate var base: Base

        /// Returns the next element, or nil at the end.
        public mutating func next() async -> Element? { await next(isolation: nil) }

        /// Returns the next element, or nil at the end.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> Element? {
            switch base {
            case .handedOver(let taker): return await taker.next()
            case .buffered(var iterator):
                defer { base = .buffered(iterator) }
                return await iterator.next(isolation: actor)
            }
        }
    }

    /// Takes elements from a handoff. Ends the iteration when its iterator is released.
    fileprivate final class Taker: Sendable {
        private let handoff: Handoff<Element>
        private let onTermination: @Sendable () -> Void

        init(_ handoff: Handoff<Element>, onTermination: @escaping @Sendable () -> Void) {
            self.handoff = handoff
            self.onTermination = onTermination
        }

        deinit { leave() }

        func next() async -> Element? {
            await withTaskCancellationHandler {
                await handoff.take()
            } onCancel: {
                leave()
            }
        }

        private func leave() {
            if handoff.close() { onTermination() }
        }
    }
}

// MARK: - Handing over

/// Passes elements from one task to another, one at a time. The giving task waits until each element has been taken.
final class Handoff<Element: Sendable>: Sendable {
    private typealias Waiting = UnsafeContinuation<Void, Never>

    private struct State {
        var offered: [Element] = []
        var isClosed = false
        var giver: Waiting?
        var taker: Waiting?
    }

    private let state = Locked(State())

    /// Offers an element and waits until it has been taken, the handoff is closed, or the task is cancelled.
    func give(_ element: Element) async {
        let taker = state.withLock { state in
            if !state.isClosed { state.offered.append(element) }
            return state.taker.take()
        }
        taker?.resume()
        await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                let mustWait = state.withLock { state in
                    guard !state.offered.isEmpty, !state.isClosed, !Task.isCancelled else { return false }
                    state.giver = continuation
                    return true
                }
                if !mustWait { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.giver.take() }?.resume()
        }
    }

    /// Offers the last elements without waiting.
    func finish(with elements: [Element]) {
        let taker = state.withLock { state in
            if !state.isClosed { state.offered += elements }
            state.isClosed = true
            return state.taker.take()
        }
        taker?.resume()
    }

    /// Returns the next element, or nil after the last one. Only one task can call this method at a time. To end its wait, call
    /// ``close()``; cancelling the task doesn't.
    func take() async -> Element? {
        while true {
            let (element, isOver, giver) = state.withLock { state -> (Element?, Bool, Waiting?) in
                guard !state.offered.isEmpty else { return (nil, state.isClosed, nil) }
                return (state.offered.removeFirst(), false, state.giver.take())
            }
            giver?.resume()
            if element != nil || isOver { return element }
            await withUnsafeContinuation { continuation in
                let mustWait = state.withLock { state in
                    guard state.offered.isEmpty, !state.isClosed else { return false }
                    state.taker = continuation
                    return true
                }
                if !mustWait { continuation.resume() }
            }
        }
    }

    /// Closes the handoff from the taker's side and discards offered elements. Returns whether it was still open.
    @discardableResult
    func close() -> Bool {
        let (wasOpen, dropped, giver, taker) = state.withLock { state in
            let wasOpen = !state.isClosed
            state.isClosed = true
            return (wasOpen, Swift.exchange(&state.offered, with: []), state.giver.take(), state.taker.take())
        }
        withExtendedLifetime(dropped) {}
        giver?.resume()
        taker?.resume()
        return wasOpen
    }
}
