public import AfarCore
import AfarSerializers
public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// Decodes a value from a YAML response (`application/yaml`, RFC 9512).
public final class YAMLResponseSerializer<T: Decodable>: ResponseSerializer {
    /// Changes the bytes before they are serialized.
    public let dataPreprocessor: any DataPreprocessor
    /// What a document may cost.
    public let limits: YAMLLimits
    /// The status codes whose responses may be empty.
    public let emptyResponseCodes: Set<Int>
    /// The methods whose responses may be empty.
    public let emptyRequestMethods: Set<HTTPMethod>

    /// Makes a serializer.
    ///
    /// - Parameters:
    ///   - dataPreprocessor: Changes the bytes before.
    ///   - limits: What a document may cost.
    ///   - emptyResponseCodes: The status codes whose responses may be empty. The default is 204 and 205.
    ///   - emptyRequestMethods: The methods whose responses may be empty. The default is HEAD.
    public init(
        dataPreprocessor: any DataPreprocessor = YAMLResponseSerializer.defaultDataPreprocessor,
        limits: YAMLLimits = YAMLLimits(),
        emptyResponseCodes: Set<Int> = YAMLResponseSerializer.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = YAMLResponseSerializer.defaultEmptyRequestMethods
    ) {
        self.dataPreprocessor = dataPreprocessor
        self.limits = limits
        self.emptyResponseCodes = emptyResponseCodes
        self.emptyRequestMethods = emptyRequestMethods
    }

    /// The value. An allowed empty body is `T`'s empty value, if `T` is an ``AfarCore/EmptyResponse``.
    ///
    /// - Throws: ``AfarCore/AFError/ResponseSerializationFailureReason/decodingFailed(error:)`` with a
    ///   ``YAMLLimitExceeded`` or a `DecodingError`, and what a `DecodableResponseSerializer` throws.
    public func serialize(_ input: SerializationInput) throws -> T {
        try DecodableResponseSerializer<T>(
            dataPreprocessor: dataPreprocessor, decoder: YAMLDataDecoder(limits: limits),
            emptyResponseCodes: emptyResponseCodes, emptyRequestMethods: emptyRequestMethods
        ).serialize(input)
    }

    /// The value.
    public func serialize(
        request: URLRequest?, response: HTTPURLResponse?, data: Data?, error: (any Error)?
    ) throws -> T {
        try serialize(SerializationInput(request: request, response: response, data: data, error: error))
    }
}

extension ResponseSerializer {
    /// Decodes a value from YAML.
    public static func yaml<T: Decodable>(
        of type: T.Type,
        dataPreprocessor: any DataPreprocessor = YAMLResponseSerializer<T>.defaultDataPreprocessor,
        limits: YAMLLimits = YAMLLimits(),
        emptyResponseCodes: Set<Int> = YAMLResponseSerializer<T>.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = YAMLResponseSerializer<T>.defaultEmptyRequestMethods
    ) -> YAMLResponseSerializer<T> where Self == YAMLResponseSerializer<T> {
        YAMLResponseSerializer(
            dataPreprocessor: dataPreprocessor, limits: limits, emptyResponseCodes: emptyResponseCodes,
            emptyRequestMethods: emptyRequestMethods)
    }
}

// MARK: - Streams

/// Decodes a value from each document of a YAML stream, wherever its chunks end.
///
/// A document ends where `---` begins the next, with `...`, or with the body. Documents of nothing but comments are passed
/// over. One that cannot be decoded is a failure; the documents after it are read.
public struct YAMLDocumentsParser<T: Decodable & Sendable>: DataStreamParser {
    /// What a document may cost.
    public let limits: YAMLLimits
    private var document = Data()
    private var line = Data()
    private var hasContent = false
    /// Whether the document's first marker has come; directives and comments may stand before it.
    private var hasBegun = false
    /// Whether the rest of the document is to be passed over.
    private var isPassing = false

    /// Makes a parser.
    ///
    /// - Parameter limits: What a document may cost.
    public init(limits: YAMLLimits = YAMLLimits()) { self.limits = limits }

    /// The values of the documents that a chunk completes.
    public mutating func parse(_ chunk: Data) -> [Result<T, AFError>] {
        var results: [Result<T, AFError>] = []
        for piece in chunk.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated() {
            if piece.offset > 0 { endLine(&results) }
            add(piece.element, &results)
        }
        return results
    }

    /// The value of the last document.
    public mutating func finish() -> [Result<T, AFError>] {
        var results: [Result<T, AFError>] = []
        endLine(&results)
        endDocument(&results)
        return results
    }

    private mutating func add(_ bytes: Data, _ results: inout [Result<T, AFError>]) {
        if isPassing {
            // Enough to see whether a marker begins the line.
            line += bytes.prefix(max(0, 4 - line.count))
        } else {
            line += bytes
            guard document.count + line.count > limits.maximumSize else { return }
            let error = YAMLLimitExceeded(limit: .size, maximum: limits.maximumSize, line: nil)
            results.append(.failure(.responseSerializationFailed(reason: .decodingFailed(error: error))))
            isPassing = true
            document = Data()
            line = Data(line.prefix(4))
        }
    }

    private mutating func endLine(_ results: inout [Result<T, AFError>]) {
        defer { line = Data() }
        let begin = String(decoding: line.prefix(4), as: UTF8.self)
        let isMarker = begin.count < 4 || begin.last?.isWhitespace == true
        if isMarker, begin.hasPrefix("...") { return endDocument(&results) }
        if isMarker, begin.hasPrefix("---") {
            if hasContent || hasBegun || isPassing { endDocument(&results) }
            hasBegun = true
            let first = line.dropFirst(3).first { !Self.isBlank($0) }
            hasContent = first != nil && first != UInt8(ascii: "#")
        } else if let first = line.first(where: { !Self.isBlank($0) }) {
            // Comments and directives make no document.
            let isAside = first == UInt8(ascii: "#") || line.first == UInt8(ascii: "%")
            hasContent = hasContent || !isAside
        }
        guard !isPassing else { return }
        document += line + [UInt8(ascii: "\n")]
    }

    private mutating func endDocument(_ results: inout [Result<T, AFError>]) {
        defer {
            document = Data()
            hasContent = false
            hasBegun = false
            isPassing = false
        }
        guard hasContent, !isPassing else { return }
        do {
            results.append(.success(try YAMLDataDecoder(limits: limits).decode(T.self, from: document)))
        } catch {
            results.append(.failure(.responseSerializationFailed(reason: .decodingFailed(error: error))))
        }
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0D }
}

extension DataStreamParser {
    /// Decodes a value from each document of a YAML stream.
    public static func yamlDocuments<T: Decodable & Sendable>(
        of type: T.Type, limits: YAMLLimits = YAMLLimits()
    ) -> Self where Self == YAMLDocumentsParser<T> {
        YAMLDocumentsParser(limits: limits)
    }
}
