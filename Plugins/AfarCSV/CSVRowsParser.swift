public import AfarCore
public import Foundation
import HTTPTypes

/// Decodes each row of a CSV stream, wherever its chunks end.
///
/// A row that cannot be read or decoded, or is beyond the limits, is a failure; the rows after it are read. Where the rest
/// would mean nothing, because the header cannot be read or the charset is unknown, and after the last row that may be read,
/// the failure is the last that comes.
public struct CSVRowsParser<Row: Decodable & Sendable>: DataStreamParser {
    /// Says how rows are written and decoded.
    public let decoder: CSVDataDecoder
    private var reader: CSVReader
    private var index = 0

    /// Makes a parser.
    ///
    /// - Parameter decoder: Says how rows are written and decoded. The default is RFC 4180 with a header.
    public init(decoder: CSVDataDecoder = CSVDataDecoder()) {
        self.decoder = decoder
        reader = CSVReader(decoder, contentType: nil)
    }

    /// Takes the encoding from the head.
    public mutating func begin(_ head: ResponseHead) {
        reader = CSVReader(decoder, contentType: head.fields[.contentType])
    }

    /// The rows that a chunk completes.
    public mutating func parse(_ chunk: Data) -> [Result<Row, AFError>] {
        rows { reader in try reader.append(chunk) }
    }

    /// The last row, if no line's end came after it.
    public mutating func finish() -> [Result<Row, AFError>] {
        rows { reader in try reader.finish() }
    }

    private mutating func rows(_ give: (inout CSVReader) throws -> Void) -> [Result<Row, AFError>] {
        do {
            try give(&reader)
        } catch {
            return [.failure(Self.failure(error))]
        }
        var rows: [Result<Row, AFError>] = []
        while let result = reader.next() {
            do {
                rows.append(.success(try CSVRow(result.get(), index, reader, decoder).decode(Row.self)))
            } catch {
                rows.append(.failure(Self.failure(error)))
            }
            index += 1
        }
        return rows
    }

    private static func failure(_ error: any Error) -> AFError {
        .responseSerializationFailed(reason: .decodingFailed(error: error))
    }
}

extension DataStreamParser {
    /// Decodes each row of a CSV stream.
    ///
    /// - Parameters:
    ///   - type: What a row is.
    ///   - decoder: Says how rows are written and decoded. The default is RFC 4180 with a header.
    public static func csvRows<Row: Decodable & Sendable>(
        of type: Row.Type, decoder: CSVDataDecoder = CSVDataDecoder()
    ) -> Self where Self == CSVRowsParser<Row> {
        CSVRowsParser(decoder: decoder)
    }
}
