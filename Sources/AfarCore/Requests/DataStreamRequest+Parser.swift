package import Foundation

extension DataStreamRequest {
    /// How chunks become values.
    package struct Parser<Success: Sendable, Failure: Error>: Sendable {
        let begin: @Sendable (ResponseHead) -> Void
        let parse: @Sendable (Data) -> [Result<Success, Failure>]
        let finish: @Sendable (_ isWhole: Bool) -> [Result<Success, Failure>]
        /// Whether chunks are values as they are.
        let isTrivial: Bool

        /// - Parameters:
        ///   - begin: Called with the head when a body begins; drops what is left of another one.
        ///   - isTrivial: Whether chunks are values as they are.
        ///   - parse: Makes values of a chunk.
        ///   - finish: Makes values of what is left when the last chunk has come. Its argument is whether the body is
        ///     complete.
        package init(
            begin: @escaping @Sendable (ResponseHead) -> Void = { _ in },
            isTrivial: Bool = false,
            parse: @escaping @Sendable (Data) -> [Result<Success, Failure>],
            finish: @escaping @Sendable (_ isWhole: Bool) -> [Result<Success, Failure>] = { _ in [] }
        ) {
            self.begin = begin
            self.parse = parse
            self.finish = finish
            self.isTrivial = isTrivial
        }
    }
}

extension DataStreamRequest.Parser where Success == Data, Failure == Never {
    /// Chunks as they are.
    static var plain: Self { Self(isTrivial: true, parse: { [.success($0)] }) }
}

extension DataStreamRequest.Parser where Failure == AFError {
    init<Serializer: DataStreamSerializer>(_ serializer: Serializer) where Serializer.SerializedObject == Success {
        self.init(parse: { chunk in
            let result = Result { try serializer.serialize(chunk) }
            return [
                result.mapError { error in
                    error.asAFError(or: .responseSerializationFailed(reason: .customSerializationFailed(error: error)))
                }
            ]
        })
    }

    init<Parser: DataStreamParser>(_ parser: Parser) where Parser.Value == Success {
        let current = Locked(parser)
        self.init(
            begin: { head in
                current.withLock {
                    $0 = parser
                    $0.begin(head)
                }
            },
            parse: { chunk in current.withLock { $0.parse(chunk) } },
            finish: { isWhole in isWhole ? current.withLock { $0.finish() } : [] })
    }
}
