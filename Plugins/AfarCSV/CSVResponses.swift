public import AfarCore
public import Foundation
import HTTPTypes

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// A serializer that decodes the rows of a CSV response (`text/csv`, RFC 4180), in the response's encoding.
public final class CSVResponseSerializer<Row: Decodable & Sendable>: ResponseSerializer {
    /// The preprocessor that is applied to the body before decoding.
    public let dataPreprocessor: any DataPreprocessor
    /// The decoder for the rows.
    public let decoder: CSVDataDecoder
    /// The status codes for which an empty body is allowed.
    public let emptyResponseCodes: Set<Int>
    /// The methods for which an empty body is allowed.
    public let emptyRequestMethods: Set<HTTPMethod>

    /// Creates a serializer.
    ///
    /// - Parameters:
    ///   - dataPreprocessor: The preprocessor that is applied to the body before decoding.
    ///   - decoder: The decoder for the rows. The default format is RFC 4180 with a header.
    ///   - emptyResponseCodes: The status codes for which an empty body is allowed. The default is 204 and 205.
    ///   - emptyRequestMethods: The methods for which an empty body is allowed. The default is HEAD.
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

    /// Returns the rows, or an empty array for an allowed empty body.
    ///
    /// - Throws: ``AfarCore/AFError/ResponseSerializationFailureReason/decodingFailed(error:)`` with an error of
    ///   ``CSVDataDecoder``, or an error of ``AfarCore/ResponseSerializer/bytes(of:)``.
    public func serialize(_ input: SerializationInput) throws -> [Row] {
        guard let data = try bytes(of: input) else { return [] }
        do {
            return try decoder.decode([Row].self, from: data, of: input.head)
        } catch {
            throw AFError.responseSerializationFailed(reason: .decodingFailed(error: error))
        }
    }

    /// Returns the rows.
    public func serialize(
        request: URLRequest?, response: HTTPURLResponse?, data: Data?, error: (any Error)?
    ) throws -> [Row] {
        try serialize(SerializationInput(request: request, response: response, data: data, error: error))
    }
}

extension ResponseSerializer {
    /// Returns a serializer that decodes the rows of a CSV response.
    ///
    /// - Parameters:
    ///   - type: The type of a row.
    ///   - dataPreprocessor: The preprocessor that is applied to the body before decoding.
    ///   - decoder: The decoder for the rows. The default format is RFC 4180 with a header.
    ///   - emptyResponseCodes: The status codes for which an empty body is allowed. The default is 204 and 205.
    ///   - emptyRequestMethods: The methods for which an empty body is allowed. The default is HEAD.
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

/// A parser that decodes each row of a CSV stream. Chunks can end anywhere.
///
/// For a row that is invalid, can't be decoded or exceeds a limit, the parser returns a failure and continues with the next
/// row. The parser stops after a failure if the header is invalid, the charset is unknown, or the maximum number of rows is
/// exceeded.
public struct CSVRowsParser<Row: Decodable & Sendable>: DataStreamParser {
    /// The decoder for the rows.
    public let decoder: CSVDataDecoder
    private var reader: CSVReader
    private var index = 0

    /// Creates a parser.
    ///
    /// - Parameter decoder: The decoder for the rows. The default format is RFC 4180 with a header.
    public init(decoder: CSVDataDecoder = CSVDataDecoder()) {
        self.decoder = decoder
        reader = CSVReader(decoder, contentType: nil)
    }

    /// Reads the encoding from the response head.
    public mutating func begin(_ head: ResponseHead) {
        reader = CSVReader(decoder, contentType: head.fields[.contentType])
    }

    /// Returns the rows that a chunk completes.
    public mutating func parse(_ chunk: Data) -> [Result<Row, AFError>] {
        rows { reader in try reader.append(chunk) }
    }

    /// Returns the last row if it doesn't end with a line ending.
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
    /// Returns a parser that decodes each row of a CSV stream.
    ///
    /// - Parameters:
    ///   - type: The type of a row.
    ///   - decoder: The decoder for the rows. The default format is RFC 4180 with a header.
    public static func csvRows<Row: Decodable & Sendable>(
        of type: Row.Type, decoder: CSVDataDecoder = CSVDataDecoder()
    ) -> Self where Self == CSVRowsParser<Row> {
        CSVRowsParser(decoder: decoder)
    }
}
