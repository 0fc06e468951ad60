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
/// Chunks are read only when they are needed, so a slow reader slows down the sender. The body of a part can be read once, and only before the
/// next part is requested, which skips the rest of it.
public struct MultipartParts<Base: AsyncSequence>: AsyncSequence where Base.Element == Data {
    private let base: Base
    private let makeParser: () throws -> MultipartParser

    /// Creates the sequence of the parts of a body.
    ///
    /// - Parameters:
    ///   - base: The chunks of the body.
    ///   - contentType: The value of the header field `Content-Type`. It is evaluated after the first chunk has arrived. If it isn't
    ///     `multipart` with a boundary, the sequence throws a ``MultipartError``.
    ///   - limits: The limits on the body.
    public init(
        _ base: Base, contentType: @autoclosure @escaping () -> String, limits: MultipartLimits = MultipartLimits()
    ) {
        self.base = base
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

        /// Creates an iterator. All iterators read the same bytes.
        public func makeAsyncIterator() -> Iterator { Iterator(reader: reader, number: number) }

        /// Reads the bytes of a part.
        public struct Iterator: AsyncIteratorProtocol {
            fileprivate let reader: Reader
            fileprivate let number: Int

            /// Returns the next bytes, or nil at the end of the part, or after the next part was requested.
            public func next(isolation actor: isolated (any Actor)? = #isolation) async throws -> Data? {
                try await reader.nextChunk(of: number, isolation: actor)
            }

            /// Returns the next bytes, or nil at the end of the part, or after the next part was requested.
            public func next() async throws -> Data? { try await reader.nextChunk(of: number, isolation: #isolation) }
        }
    }

    /// Creates an iterator.
    public func makeAsyncIterator() -> Iterator { Iterator(reader: Reader(base.makeAsyncIterator(), makeParser)) }

    /// Reads the parts of a body.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let reader: Reader

        /// Skips the rest of the last part, and returns the next one, or nil after the last part.
        public func next(isolation actor: isolated (any Actor)? = #isolation) async throws -> Part? {
            try await reader.nextPart(isolation: actor)
        }

        /// Skips the rest of the last part, and returns the next one, or nil after the last part.
        public func next() async throws -> Part? { try await reader.nextPart(isolation: #isolation) }
    }

    /// The state that the iterators of the parts and of their bodies share.
    fileprivate final class Reader {
        private var base: Base.AsyncIterator
        private let makeParser: () throws -> MultipartParser
        private var parser: MultipartParser?
        private var events: ArraySlice<MultipartParser.Event> = []
        private var hasEnded = false
        private var partNumber = 0

        init(_ base: Base.AsyncIterator, _ makeParser: @escaping () throws -> MultipartParser) {
            (self.base, self.makeParser) = (base, makeParser)
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
            guard !hasEnded else { return false }
            var iterator = base
            let chunk: Data?
            do { chunk = try await iterator.next(isolation: actor) } catch {
                hasEnded = true
                throw error
            }
            base = iterator
            do {
                var parser = try parser ?? makeParser()
                if let chunk { events = try parser.parse(chunk)[...] } else { try parser.finish() }
                self.parser = parser
            } catch {
                hasEnded = true
                throw error
            }
            hasEnded = chunk == nil
            return !hasEnded
        }
    }
}

@available(*, unavailable)
extension MultipartParts.Iterator: Sendable {}

@available(*, unavailable)
extension MultipartParts.PartBody: Sendable {}
