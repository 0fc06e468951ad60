public import Foundation

/// Chunks of a request's body, pulled one at a time: the next is asked for when the transport has sent the one before.
public struct RequestBodyStream: Sendable {
    /// The number of bytes that the chunks add up to, if known. A stream that yields fewer or more fails the exchange.
    public let length: Int64?
    /// Whether the chunks can be made a second time.
    public let isReplayable: Bool
    private let makeReader: @Sendable () -> Reader
    private let wasRead = Locked(false)

    /// The next chunk at each call, nil at the end. An error ends the exchange and becomes its error's cause.
    public typealias Reader = @Sendable () async throws -> Data?

    /// Makes a body from a function that gives a reader for each time the body is sent.
    ///
    /// - Parameters:
    ///   - length: The total number of bytes; nil, or a negative number, when it is unknown.
    ///   - isReplayable: Whether `makeReader` gives the same bytes again when called again.
    ///   - makeReader: Called once for each sending. The reader is called by one task at a time.
    public init(length: Int64? = nil, isReplayable: Bool, makeReader: @escaping @Sendable () -> Reader) {
        self.length = length.flatMap { $0 >= 0 ? $0 : nil }
        self.isReplayable = isReplayable
        self.makeReader = makeReader
    }

    /// A reader that starts at the first chunk. If the chunks cannot be made a second time, a second reader throws.
    public func reader() -> Reader { claim()() }

    /// Takes the stream for a sending, and returns what makes its reader. That calls the owner's function, which may take
    /// as long as it likes; the claim itself calls nobody, so it may be made under a lock.
    package func claim() -> @Sendable () -> Reader {
        let wasRead = wasRead.withLock { Swift.exchange(&$0, with: true) }
        guard wasRead, !isReplayable else { return makeReader }
        return { { throw TransportError.bodyIsSpent } }
    }

    /// Whether it was read before, and cannot be read again.
    package var isSpent: Bool { !isReplayable && wasRead.withLock { $0 } }
}

extension TransportError {
    package static let bodyIsSpent = TransportError(
        .requestBodyFailed, phase: .sending, url: nil,
        message: "the body is a stream that has been read before, so it cannot be sent again")
}
