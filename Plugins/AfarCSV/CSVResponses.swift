public import AfarCore
public import Foundation

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
