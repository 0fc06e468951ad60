public import AfarCore
public import Foundation
import Yams

#if !YAML
    #error("AfarYAML requires the package trait YAML: .package(url: …, traits: [.defaults, \"YAML\"])")
#endif

/// A type that decodes values from YAML. Use it wherever Afar accepts a ``DataDecoder``:
/// `responseDecodable(of: T.self, decoder: YAMLDataDecoder())`.
public struct YAMLDataDecoder: DataDecoder {
    /// The limits on a document.
    public var limits: YAMLLimits

    /// Creates a decoder.
    ///
    /// - Parameter limits: The limits on a document.
    public init(limits: YAMLLimits = YAMLLimits()) { self.limits = limits }

    /// Decodes a value from a single document in UTF-8, UTF-16 or UTF-32.
    ///
    /// - Throws: ``YAMLLimitExceeded`` if the document exceeds a limit, otherwise a `DecodingError`.
    public func decode<D: Decodable>(_ type: D.Type, from data: Data) throws -> D {
        // Text has at most four times as many bytes in UTF-16 and UTF-32 as in UTF-8.
        guard data.count / 4 <= limits.maximumSize else {
            throw YAMLLimitExceeded(limit: .size, maximum: limits.maximumSize, line: nil)
        }
        let text = try YAMLText.text(of: data)
        try YAMLScan.check(text, limits)
        return try YAMLDecoder(encoding: .utf8).decode(type, from: text)
    }
}

/// Limits on YAML documents. Small documents from a server can be expensive to decode. The causes are aliases that multiply
/// ("billion laughs"), deep nesting, and mappings whose keys are searched linearly.
///
/// A document that exceeds a limit fails with a ``YAMLLimitExceeded`` before it's decoded.
public struct YAMLLimits: Hashable, Sendable {
    /// The maximum size of a document, in bytes of UTF-8. The limit also applies to the total size of its scalars with aliases
    /// expanded. The default is 10 MiB.
    public var maximumSize: Int
    /// The maximum nesting depth of sequences and mappings with aliases expanded. The default is 100.
    public var maximumDepth: Int
    /// The maximum number of scalars, sequences and mappings with aliases expanded. The default is 100,000.
    public var maximumNodes: Int
    /// The maximum length of a scalar in bytes of UTF-8. The default is 1 MiB.
    public var maximumScalarLength: Int
    /// The maximum number of keys in a mapping, including merged keys. The time for decoding a mapping grows with the square of this
    /// number. The default is 1,000.
    public var maximumMappingCount: Int

    /// Creates limits.
    public init(
        maximumSize: Int = 10 << 20,
        maximumDepth: Int = 100,
        maximumNodes: Int = 100_000,
        maximumScalarLength: Int = 1 << 20,
        maximumMappingCount: Int = 1_000
    ) {
        self.maximumSize = maximumSize
        self.maximumDepth = maximumDepth
        self.maximumNodes = maximumNodes
        self.maximumScalarLength = maximumScalarLength
        self.maximumMappingCount = maximumMappingCount
    }
}

/// An error for a YAML document that exceeds one of the ``YAMLLimits``. The document wasn't decoded.
public struct YAMLLimitExceeded: Error, Hashable, Sendable {
    /// A limit.
    public enum Limit: String, Sendable {
        /// ``YAMLLimits/maximumSize``.
        case size
        /// ``YAMLLimits/maximumDepth``.
        case depth
        /// ``YAMLLimits/maximumNodes``.
        case nodes
        /// ``YAMLLimits/maximumScalarLength``.
        case scalarLength
        /// ``YAMLLimits/maximumMappingCount``.
        case mappingCount
    }

    /// The exceeded limit.
    public let limit: Limit
    /// The maximum that the exceeded limit allows.
    public let maximum: Int
    /// The line on which the limit was exceeded, starting from 1. Nil if the document exceeds the size limit even before aliases are
    /// expanded.
    public let line: Int?

    /// Creates an error.
    public init(limit: Limit, maximum: Int, line: Int?) {
        self.limit = limit
        self.maximum = maximum
        self.line = line
    }
}

extension YAMLLimitExceeded: LocalizedError, CustomStringConvertible {
    /// A description of the limit, the position, and a possible solution.
    public var description: String {
        let excess =
            switch limit {
            case .size: "has more than \(maximum) bytes with its aliases expanded"
            case .depth: "has more than \(maximum) levels of nesting"
            case .nodes: "has more than \(maximum) nodes with its aliases expanded"
            case .scalarLength: "has a scalar of more than \(maximum) bytes"
            case .mappingCount: "has a mapping with more than \(maximum) keys"
            }
        let place = line.map { " (line \($0))" } ?? ""
        return "The YAML document \(excess)\(place). If you trust its sender, increase the limits (YAMLLimits)."
    }

    /// The same as ``description``.
    public var errorDescription: String? { description }
}

/// Detects the encoding of a YAML document from its first bytes (YAML 1.2.2, section 5.2).
enum YAMLText {
    /// Returns the text of a document.
    ///
    /// - Throws: `DecodingError.dataCorrupted` if the bytes are invalid in their encoding.
    static func text(of data: Data) throws -> String {
        let (encoding, name) = encoding(of: Array(data.prefix(4)))
        guard let text = String(data: data, encoding: encoding) else {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(codingPath: [], debugDescription: "The document is not valid \(name)."))
        }
        return text.first == "\u{FEFF}" ? String(text.dropFirst()) : text
    }

    private static func encoding(of start: [UInt8]) -> (String.Encoding, name: String) {
        let bytes = start + Array(repeating: 1, count: 4 - start.count)
        return switch (bytes[0], bytes[1], bytes[2], bytes[3]) {
        case (0, 0, 0xFE, 0xFF), (0, 0, 0, _): (.utf32BigEndian, "UTF-32BE")
        case (0xFF, 0xFE, 0, 0), (_, 0, 0, 0): (.utf32LittleEndian, "UTF-32LE")
        case (0xFE, 0xFF, _, _), (0, _, _, _): (.utf16BigEndian, "UTF-16BE")
        case (0xFF, 0xFE, _, _), (_, 0, _, _): (.utf16LittleEndian, "UTF-16LE")
        default: (.utf8, "UTF-8")
        }
    }
}
