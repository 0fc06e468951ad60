/// What happens to a request, as a sequence to await: its progress, its `URLRequest`s, its bytes.
///
/// ```swift
/// for await progress in request.downloadProgress() {
///     print(progress.fractionCompleted)
/// }
/// ```
///
/// Each iteration is a stream of its own, which begins with the loop and ends with the request. It also ends when its
/// iterator is released, or when the task that waits is cancelled.
public struct StreamOf<Element: Sendable>: AsyncSequence, Sendable {
    /// How many elements are kept for an iteration that falls behind.
    public typealias BufferingPolicy = AsyncStream<Element>.Continuation.BufferingPolicy
    /// The iterator.
    public typealias AsyncIterator = Iterator
    /// A stream does not fail.
    public typealias Failure = Never
    typealias Continuation = AsyncStream<Element>.Continuation

    private let makeIterator: @Sendable () -> Iterator

    /// Makes a stream that keeps elements for an iteration that falls behind.
    ///
    /// - Parameters:
    ///   - onTermination: Called when whoever iterates leaves before the end. A builder that sets the continuation's
    ///     `onTermination` itself does without.
    ///   - builder: Called at the begin of each iteration with where its elements go.
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

    /// Makes a stream that keeps nothing: who gives elements waits until they are taken.
    ///
    /// - Parameters:
    ///   - onTermination: Called when whoever iterates leaves before the end.
    ///   - builder: Called at the begin of each iteration with where its elements go.
    init(onTermination: @escaping @Sendable () -> Void, builder: @escaping @Sendable (Handoff<Element>) -> Void) {
        makeIterator = {
            let handoff = Handoff<Element>()
            builder(handoff)
            return Iterator(base: .handedOver(Taker(handoff, onTermination: onTermination)))
        }
    }

    /// Begins an iteration.
    public func makeAsyncIterator() -> Iterator { makeIterator() }

    /// One iteration.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate enum Base {
            case buffered(AsyncStream<Element>.Iterator)
            case handedOver(Taker)
        }

        fileprivate var base: Base

        /// The next element, or nil at the end.
        public mutating func next() async -> Element? { await next(isolation: nil) }

        /// The next element, or nil at the end.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> Element? {
            switch base {
            case .handedOver(let taker): return await taker.next()
            case .buffered(var iterator):
                defer { base = .buffered(iterator) }
                return await iterator.next(isolation: actor)
            }
        }
    }

    /// Takes elements, and notices when its iterator is released.
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
