public import AfarCore
import AfarSerializers
public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// A serializer that decodes a value from a YAML response (`application/yaml`, RFC 9512).
public final class YAMLResponseSerializer<T: Decodable>: ResponseSerializer {
    /// The preprocessor that is applied to the body before decoding.
    public let dataPreprocessor: any DataPreprocessor
    /// The limits on a document.
    public let limits: YAMLLimits
    /// The status codes for which an empty body is allowed.
    public let emptyResponseCodes: Set<Int>
    /// The methods for which an empty body is allowed.
    public let emptyRequestMethods: Set<HTTPMethod>

    /// Creates a serializer.
    ///
    /// - Parameters:
    ///   - dataPreprocessor: The preprocessor that is applied to the body before decoding.
    ///   - limits: The limits on a document.
    ///   - emptyResponseCodes: The status codes for which an empty body is allowed. The default is 204 and 205.
    ///   - emptyRequestMethods: The methods for which an empty body is allowed. The default is HEAD.
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

    /// Returns the value. For an allowed empty body, this is the empty value of `T` if `T` is an ``AfarCore/EmptyResponse``.
    ///
    /// - Throws: ``AfarCore/AFError/ResponseSerializationFailureReason/decodingFailed(error:)`` with a ``YAMLLimitExceeded`` or a
    ///   `DecodingError`, or another error of `DecodableResponseSerializer`.
    public func serialize(_ input: SerializationInput) throws -> T {
        try DecodableResponseSerializer<T>(
            dataPreprocessor: dataPreprocessor, decoder: YAMLDataDecoder(limits: limits),
            emptyResponseCodes: emptyResponseCodes, emptyRequestMethods: emptyRequestMethods
        ).serialize(input)
    }

    /// Returns the value.
    public func serialize(
        request: URLRequest?, response: HTTPURLResponse?, data: Data?, error: (any Error)?
    ) throws -> T {
        try serialize(SerializationInput(request: request, response: response, data: data, error: error))
    }
}

extension ResponseSerializer {
    /// Returns a serializer that decodes a value from YAML.
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

/// A parser that decodes a value from each document of a YAML stream. Chunks can end anywhere.
///
/// A document ends before the `---` of the next document, at `...`, or at the end of the body. Documents that contain only
/// comments are skipped. For a document that can't be decoded, the parser returns a failure and continues with the next
/// document.
public struct YAMLDocumentsParser<T: Decodable & Sendable>: DataStreamParser {
    /// The limits on a document.
    public let limits: YAMLLimits
    private var document = Data()
    private var line = Data()
    private var hasContent = false
    /// Whether the document's first marker has been read. Directives and comments can precede the marker.
    private var hasBegun = false
    /// Whether the rest of the document is skipped.
    private var isSkipping = false

    /// Creates a parser.
    ///
    /// - Parameter limits: The limits on a document.
    public init(limits: YAMLLimits = YAMLLimits()) { self.limits = limits }

    /// Returns the values of the documents that a chunk completes.
    public mutating func parse(_ chunk: Data) -> [Result<T, AFError>] {
        var results: [Result<T, AFError>] = []
        for piece in chunk.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated() {
            if piece.offset > 0 { endLine(&results) }
            add(piece.element, &results)
        }
        return results
    }

    /// Returns the value of the last document.
    public mutating func finish() -> [Result<T, AFError>] {
        var results: [Result<T, AFError>] = []
        endLine(&results)
        endDocument(&results)
        return results
    }

    private mutating func add(_ bytes: Data, _ results: inout [Result<T, AFError>]) {
        if isSkipping {
            // Four bytes are enough to detect a marker at the start of the line.
            line += bytes.prefix(max(0, 4 - line.count))
        } else {
            line += bytes
            guard document.count + line.count > limits.maximumSize else { return }
            let error = YAMLLimitExceeded(limit: .size, maximum: limits.maximumSize, line: nil)
            results.append(.failure(.responseSerializationFailed(reason: .decodingFailed(error: error))))
            isSkipping = true
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
            if hasContent || hasBegun || isSkipping { endDocument(&results) }
            hasBegun = true
            let first = line.dropFirst(3).first { !Self.isBlank($0) }
            hasContent = first != nil && first != UInt8(ascii: "#")
        } else if let first = line.first(where: { !Self.isBlank($0) }) {
            // Comments and directives alone aren't a document.
            let isCommentOrDirective = first == UInt8(ascii: "#") || line.first == UInt8(ascii: "%")
            hasContent = hasContent || !isCommentOrDirective
        }
        guard !isSkipping else { return }
        document += line + [UInt8(ascii: "\n")]
    }

    private mutating func endDocument(_ results: inout [Result<T, AFError>]) {
        defer {
            document = Data()
            hasContent = false
            hasBegun = false
            isSkipping = false
        }
        guard hasContent, !isSkipping else { return }
        do {
            results.append(.success(try YAMLDataDecoder(limits: limits).decode(T.self, from: document)))
        } catch {
            results.append(.failure(.responseSerializationFailed(reason: .decodingFailed(error: error))))
        }
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0D }
}

extension DataStreamParser {
    /// Returns a parser that decodes a value from each document of a YAML stream.
    public static func yamlDocuments<T: Decodable & Sendable>(
        of type: T.Type, limits: YAMLLimits = YAMLLimits()
    ) -> Self where Self == YAMLDocumentsParser<T> {
        YAMLDocumentsParser(limits: limits)
    }
}
