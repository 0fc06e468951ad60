/// What happens to a request, as a sequence to await: its progress, its `URLRequest`s, its bytes.
///
/// ```swift
/// for await progress in request.downloadProgress() {
///     print(progress.fractionCompleted)
/// }
/// ```
///
/// Each iteration is a stream of its own, which begins with the loop and ends with the request. It also ends when its
/// iterator is let go, or when the task that waits is cancelled.
public struct StreamOf<Element: Sendable>: AsyncSequence, Sendable {
    /// How many elements are kept for an iteration that falls behind.
    public typealias BufferingPolicy = AsyncStream<Element>.Continuation.BufferingPolicy
    /// The iterator.
    public typealias AsyncIterator = Iterator
    /// A stream does not fail.
    public typealias Failure = Never
    typealias Continuation = AsyncStream<Element>.Continuation

    private let bufferingPolicy: BufferingPolicy
    private let onTermination: (@Sendable () -> Void)?
    private let builder: @Sendable (Continuation) -> Void

    /// - Parameters:
    ///   - onTermination: Called when whoever iterates leaves before the end. A builder that sets the continuation's
    ///     `onTermination` itself does without.
    ///   - builder: Called at the begin of each iteration with where its elements go.
    init(
        bufferingPolicy: BufferingPolicy = .unbounded,
        onTermination: (@Sendable () -> Void)? = nil,
        builder: @escaping @Sendable (Continuation) -> Void
    ) {
        self.bufferingPolicy = bufferingPolicy
        self.onTermination = onTermination
        self.builder = builder
    }

    /// Begins an iteration.
    public func makeAsyncIterator() -> Iterator {
        let stream = AsyncStream(Element.self, bufferingPolicy: bufferingPolicy) { continuation in
            if let onTermination {
                continuation.onTermination = { if case .cancelled = $0 { onTermination() } }
            }
            builder(continuation)
        }
        return Iterator(base: stream.makeAsyncIterator())
    }

    /// One iteration.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate var base: AsyncStream<Element>.Iterator

        /// The next element, or nil at the end.
        public mutating func next() async -> Element? { await base.next() }

        /// The next element, or nil at the end.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> Element? {
            await base.next(isolation: actor)
        }
    }
}
