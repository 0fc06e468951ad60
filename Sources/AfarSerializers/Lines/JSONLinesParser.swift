public import AfarCore
public import Foundation

/// Decodes a value from each line of a streamed response: newline-delimited JSON, also called JSON Lines.
///
/// Lines end with LF or CR LF, the last one also with the body. Lines of white space are passed over, and so is a
/// byte-order mark at the begin. A line that cannot be decoded is a failure that carries a ``JSONStreamError``; the lines
/// after it are read.
public struct JSONLinesParser<T: Decodable & Sendable>: DataStreamParser {
    /// Decodes.
    public let decoder: any DataDecoder
    /// The bytes that a line may have.
    public var maximumLineLength: Int { lines.maximumLength }
    private var lines: LineSplitter
    private var number = 0

    /// Makes a parser.
    ///
    /// - Parameters:
    ///   - decoder: Decodes. The default is a `JSONDecoder`.
    ///   - maximumLineLength: The bytes that a line may have; what is longer fails with
    ///     ``JSONStreamError/Reason/tooLong(limit:)`` and is not kept. The default is 1 MiB.
    public init(
        decoder: any DataDecoder = JSONDecoder(),
        maximumLineLength: Int = JSONLinesParser.defaultMaximumLineLength
    ) {
        self.decoder = decoder
        lines = LineSplitter(maximumLength: maximumLineLength)
    }

    /// 1 MiB.
    public static var defaultMaximumLineLength: Int { 1 << 20 }

    /// The values of the lines that a chunk completes.
    public mutating func parse(_ chunk: Data) -> [Result<T, AFError>] {
        lines.split(chunk).compactMap { decode($0) }
    }

    /// The value of the last line, if no line's end came after it.
    public mutating func finish() -> [Result<T, AFError>] {
        lines.finish().flatMap { decode($0) }.map { [$0] } ?? []
    }

    private mutating func decode(_ line: LineSplitter.Line) -> Result<T, AFError>? {
        number += 1
        guard case .whole(let bytes) = line else {
            return .failure(JSONStreamError(.tooLong(limit: maximumLineLength), .line, number).asAFError)
        }
        let json = number == 1 ? bytes.withoutByteOrderMark : bytes
        guard !json.allSatisfy(\.isJSONWhiteSpace) else { return nil }
        return decoder.decode(json, as: T.self, .line, number)
    }
}

extension DataStreamParser {
    /// Decodes a value from each line.
    public static func jsonLines<T: Decodable & Sendable>(
        of type: T.Type,
        decoder: any DataDecoder = JSONDecoder(),
        maximumLineLength: Int = JSONLinesParser<T>.defaultMaximumLineLength
    ) -> Self where Self == JSONLinesParser<T> {
        JSONLinesParser(decoder: decoder, maximumLineLength: maximumLineLength)
    }
}
