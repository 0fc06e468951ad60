public import AfarCore
public import Foundation

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
    /// Whether a `---` has begun the document.
    private var hasMarker = false
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
            // Directives stand before the marker and belong to the document.
            if hasContent || hasMarker || isPassing { endDocument(&results) }
            hasMarker = true
            hasContent = line.dropFirst(3).first { !Self.isBlank($0) }.map { $0 != UInt8(ascii: "#") } ?? false
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
            hasMarker = false
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
