public import AfarCore
public import Foundation
import HTTPTypes

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// Decodes the rows of a CSV response (`text/csv`, RFC 4180), in the encoding that it tells.
public final class CSVResponseSerializer<Row: Decodable & Sendable>: ResponseSerializer {
    /// Changes the bytes before they are serialized.
    public let dataPreprocessor: any DataPreprocessor
    /// Says how rows are written and decoded.
    public let decoder: CSVDataDecoder
    /// The status codes whose responses may be empty.
    public let emptyResponseCodes: Set<Int>
    /// The methods whose responses may be empty.
    public let emptyRequestMethods: Set<HTTPMethod>

    /// Makes a serializer.
    ///
    /// - Parameters:
    ///   - dataPreprocessor: Changes the bytes before.
    ///   - decoder: Says how rows are written and decoded. The default is RFC 4180 with a header.
    ///   - emptyResponseCodes: The status codes whose responses may be empty. The default is 204 and 205.
    ///   - emptyRequestMethods: The methods whose responses may be empty. The default is HEAD.
    public init(
        dataPreprocessor: any DataPreprocessor = CSVResponseSerializer.defaultDataPreprocessor,
        decoder: CSVDataDecoder = CSVDataDecoder(),
        emptyResponseCodes: Set<Int> = CSVResponseSerializer.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = CSVResponseSerializer.defaultEmptyRequestMethods
    ) {
        self.dataPreprocessor = dataPreprocessor
        self.decoder = decoder
        self.emptyResponseCodes = emptyResponseCodes
        self.emptyRequestMethods = emptyRequestMethods
    }

    /// The rows. An allowed empty body has none.
    ///
    /// - Throws: ``AfarCore/AFError/ResponseSerializationFailureReason/decodingFailed(error:)`` with what a
    ///   ``CSVDataDecoder`` throws, and what ``AfarCore/ResponseSerializer/bytes(of:)`` throws.
    public func serialize(_ input: SerializationInput) throws -> [Row] {
        guard let data = try bytes(of: input) else { return [] }
        do {
            return try decoder.decode([Row].self, from: data, of: input.head)
        } catch {
            throw AFError.responseSerializationFailed(reason: .decodingFailed(error: error))
        }
    }

    /// The rows.
    public func serialize(
        request: URLRequest?, response: HTTPURLResponse?, data: Data?, error: (any Error)?
    ) throws -> [Row] {
        try serialize(SerializationInput(request: request, response: response, data: data, error: error))
    }
}

extension ResponseSerializer {
    /// Decodes the rows of CSV.
    ///
    /// - Parameters:
    ///   - type: What a row is.
    ///   - dataPreprocessor: Changes the bytes before.
    ///   - decoder: Says how rows are written and decoded. The default is RFC 4180 with a header.
    ///   - emptyResponseCodes: The status codes whose responses may be empty. The default is 204 and 205.
    ///   - emptyRequestMethods: The methods whose responses may be empty. The default is HEAD.
    public static func csv<Row: Decodable & Sendable>(
        of type: Row.Type,
        dataPreprocessor: any DataPreprocessor = CSVResponseSerializer<Row>.defaultDataPreprocessor,
        decoder: CSVDataDecoder = CSVDataDecoder(),
        emptyResponseCodes: Set<Int> = CSVResponseSerializer<Row>.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = CSVResponseSerializer<Row>.defaultEmptyRequestMethods
    ) -> CSVResponseSerializer<Row> where Self == CSVResponseSerializer<Row> {
        CSVResponseSerializer(
            dataPreprocessor: dataPreprocessor, decoder: decoder, emptyResponseCodes: emptyResponseCodes,
            emptyRequestMethods: emptyRequestMethods)
    }
}

// MARK: - Streams

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
