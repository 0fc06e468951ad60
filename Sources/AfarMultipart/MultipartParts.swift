public import Foundation

/// The parts of a multipart body that arrives in chunks.
///
/// ```swift
/// for try await part in MultipartParts(chunks, contentType: "multipart/mixed; boundary=x") {
///     print(part.header["Content-Type"] ?? "-")
///     for try await chunk in part.body { file.write(chunk) }
/// }
/// ```
///
/// Chunks are read only when they are needed, so a slow reader slows down the sender. You can read the body of a part only once, and only
/// before you request the next part. Requesting the next part skips the rest of the body. If the multipart body is malformed, the sequence
/// returns the parts before the error, and then throws the error.
///
/// The sequence ends at the last delimiter. It then releases the iterator of the chunks without waiting for the bytes that follow.
public struct MultipartParts<Base: AsyncSequence>: AsyncSequence where Base.Element == Data {
    private let base: Base
    private let makeParser: () throws -> MultipartParser
    private let onLastDelimiter: () -> Void

    /// Creates the sequence of the parts of a body.
    ///
    /// - Parameters:
    ///   - base: The chunks of the body.
    ///   - contentType: The value of the header field `Content-Type`. The expression is evaluated after the first chunk has arrived. If the
    ///     value isn't `multipart` with a boundary, the sequence throws a ``MultipartError``.
    ///   - limits: The limits on the body.
    public init(
        _ base: Base, contentType: @autoclosure @escaping () -> String, limits: MultipartLimits = MultipartLimits()
    ) {
        (self.base, onLastDelimiter) = (base, {})
        makeParser = { try MultipartParser(contentType: contentType(), limits: limits) }
    }

    /// Creates the sequence of the parts of a body, and observes its end.
    ///
    /// - Parameters:
    ///   - base: The chunks of the body.
    ///   - contentType: Returns the value of the header field `Content-Type`. The sequence calls it after the first chunk has arrived.
    ///   - limits: The limits on the body.
    ///   - onLastDelimiter: Called in the reading task, after the last delimiter and before the iterator of the chunks is released. The
    ///     remaining chunks aren't read.
    public init(
        _ base: Base, contentType: @escaping () -> String, limits: MultipartLimits = MultipartLimits(),
        onLastDelimiter: @escaping () -> Void
    ) {
        (self.base, self.onLastDelimiter) = (base, onLastDelimiter)
        makeParser = { try MultipartParser(contentType: contentType(), limits: limits) }
    }

    /// A part of the body.
    public struct Part {
        /// The header fields of the part.
        public let header: MultipartHeader
        /// The bytes of the part.
        public let body: PartBody

        /// Reads the whole body of the part.
        ///
        /// - Parameters:
        ///   - limit: The maximum number of bytes.
        ///   - actor: The actor of the caller.
        /// - Throws: ``MultipartError`` with ``MultipartError/Kind/partTooLarge`` if the body exceeds the limit, or an error of the chunks.
        public func data(upTo limit: Int, isolation actor: isolated (any Actor)? = #isolation) async throws -> Data {
            var data = Data()
            let chunks = body.makeAsyncIterator()
            while let chunk = try await chunks.next(isolation: actor) {
                guard chunk.count <= limit - data.count else {
                    throw MultipartError(kind: .partTooLarge, part: body.number)
                }
                data += chunk
            }
            return data
        }
    }

    /// The bytes of a part, in chunks.
    public struct PartBody: AsyncSequence {
        fileprivate let reader: Reader
        fileprivate let number: Int

        /// Creates an iterator. All iterators share one reading position.
        public func makeAsyncIterator() -> Iterator { Iterator(reader: reader, number: number) }

        /// Reads the bytes of a part.
        public struct Iterator: AsyncIteratorProtocol {
            fileprivate let reader: Reader
            fileprivate let number: Int

            /// Returns the next bytes. Returns nil at the end of the part, and after the next part was requested.
            public func next(isolation actor: isolated (any Actor)? = #isolation) async throws -> Data? {
                try await reader.nextChunk(of: number, isolation: actor)
            }

            /// Returns the next bytes. Returns nil at the end of the part, and after the next part was requested.
            public func next() async throws -> Data? { try await reader.nextChunk(of: number, isolation: #isolation) }
        }
    }

    /// Creates an iterator.
    public func makeAsyncIterator() -> Iterator {
        Iterator(reader: Reader(base.makeAsyncIterator(), makeParser, onLastDelimiter))
    }

    /// Reads the parts of a body.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let reader: Reader

        /// Skips the rest of the current part, and returns the next part. Returns nil after the final part.
        public func next(isolation actor: isolated (any Actor)? = #isolation) async throws -> Part? {
            try await reader.nextPart(isolation: actor)
        }

        /// Skips the rest of the current part, and returns the next part. Returns nil after the final part.
        public func next() async throws -> Part? { try await reader.nextPart(isolation: #isolation) }
    }

    /// The state that the part iterator shares with the body iterators.
    fileprivate final class Reader {
        /// Nil after the last delimiter, the end of the chunks, or an error.
        private var base: Base.AsyncIterator?
        private let makeParser: () throws -> MultipartParser
        private let onLastDelimiter: () -> Void
        private var parser: MultipartParser?
        private var events: ArraySlice<MultipartParser.Event> = []
        /// The error to throw after the events.
        private var failure: MultipartError?
        private var partNumber = 0

        init(
            _ base: Base.AsyncIterator, _ makeParser: @escaping () throws -> MultipartParser,
            _ onLastDelimiter: @escaping () -> Void
        ) {
            (self.base, self.makeParser, self.onLastDelimiter) = (base, makeParser, onLastDelimiter)
        }

        func nextPart(isolation actor: isolated (any Actor)?) async throws -> Part? {
            while let event = try await nextEvent(isolation: actor) {
                guard case .header(let header) = event else { continue }
                partNumber += 1
                return Part(header: header, body: PartBody(reader: self, number: partNumber))
            }
            return nil
        }

        func nextChunk(of number: Int, isolation actor: isolated (any Actor)?) async throws -> Data? {
            guard number == partNumber else { return nil }
            while true {
                switch events.first {
                case .data(let data):
                    events.removeFirst()
                    return data
                case .end, .header: return nil
                case nil: guard try await readEvents(isolation: actor) else { return nil }
                }
            }
        }

        private func nextEvent(isolation actor: isolated (any Actor)?) async throws -> MultipartParser.Event? {
            while events.isEmpty { guard try await readEvents(isolation: actor) else { return nil } }
            return events.removeFirst()
        }

        /// Parses the next chunk. Returns false at the end of the body.
        private func readEvents(isolation actor: isolated (any Actor)?) async throws -> Bool {
            if let failure = failure.take() { throw failure }
            guard var iterator = base.take() else { return false }
            let chunk = try await iterator.next(isolation: actor)
            var parser = try parser ?? makeParser()
            guard let chunk else {
                try parser.finish()
                return false
            }
            events = try parser.parse(chunk)[...]
            failure = parser.failure
            if parser.isComplete { onLastDelimiter() } else if failure == nil { base = iterator }
            self.parser = parser
            return true
        }
    }
}

@available(*, unavailable)
extension MultipartParts.Iterator: Sendable {}

@available(*, unavailable)
extension MultipartParts.PartBody: Sendable {}
