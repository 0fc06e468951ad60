public import AfarCore
public import Foundation
import Yams

#if !YAML
    #error("AfarYAML needs the package trait YAML: .package(url: …, traits: [\"YAML\"])")
#endif

/// Decodes values from YAML, wherever Afar takes a ``DataDecoder``: `responseDecodable(of: T.self, decoder:
/// YAMLDataDecoder())`.
public struct YAMLDataDecoder: DataDecoder {
    /// What a document may cost.
    public var limits: YAMLLimits

    /// Makes a decoder.
    ///
    /// - Parameter limits: What a document may cost.
    public init(limits: YAMLLimits = YAMLLimits()) { self.limits = limits }

    /// Decodes a value from a single document in UTF-8, UTF-16 or UTF-32.
    ///
    /// - Throws: ``YAMLLimitExceeded`` for a document beyond the limits, else a `DecodingError`.
    public func decode<D: Decodable>(_ type: D.Type, from data: Data) throws -> D {
        // UTF-16 and UTF-32 take at most 4 bytes for what takes one in UTF-8.
        guard data.count / 4 <= limits.maximumSize else {
            throw YAMLLimitExceeded(limit: .size, maximum: limits.maximumSize, line: nil)
        }
        let text = try YAMLText.text(of: data)
        try YAMLScan.check(text, limits)
        return try YAMLDecoder(encoding: .utf8).decode(type, from: text)
    }
}

// MARK: - Limits

/// What a YAML document may cost. Documents from a server can be small and cost a lot: aliases that multiply ("billion
/// laughs"), deep nesting, mappings whose keys are searched one by one.
///
/// A document beyond a limit fails with a ``YAMLLimitExceeded``, before anything is made of it.
public struct YAMLLimits: Hashable, Sendable {
    /// The bytes of a document, and those of its scalars, with each alias counted as what it stands for. The default is
    /// 10 MiB.
    public var maximumSize: Int
    /// How deep sequences and mappings may lie in each other, with each alias counted as what it stands for. The default is
    /// 100.
    public var maximumDepth: Int
    /// The number of scalars, sequences and mappings, with each alias counted as what it stands for. The default is 100,000.
    public var maximumNodes: Int
    /// The bytes of a scalar, in UTF-8. The default is 1 MiB.
    public var maximumScalarLength: Int
    /// The keys of a mapping, with those that are merged into it. Decoding a mapping takes time that grows with the square
    /// of this. The default is 1,000.
    public var maximumMappingCount: Int

    /// Makes limits.
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

/// A YAML document is beyond one of its ``YAMLLimits``. Nothing was made of it.
public struct YAMLLimitExceeded: Error, Hashable, Sendable {
    /// The limits.
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

    /// Which limit.
    public let limit: Limit
    /// What would have been allowed.
    public let maximum: Int
    /// The line where it was too much; the first is 1. Nil when the bytes were counted before any was read.
    public let line: Int?

    /// Makes an error.
    public init(limit: Limit, maximum: Int, line: Int?) {
        self.limit = limit
        self.maximum = maximum
        self.line = line
    }
}

extension YAMLLimitExceeded: LocalizedError, CustomStringConvertible {
    /// What was too much, where, and what can be done.
    public var description: String {
        let excess =
            switch limit {
            case .size: "has more than \(maximum) bytes, counting what its aliases stand for"
            case .depth: "is nested more than \(maximum) levels deep"
            case .nodes: "has more than \(maximum) nodes, counting what its aliases stand for"
            case .scalarLength: "has a scalar of more than \(maximum) bytes"
            case .mappingCount: "has a mapping of more than \(maximum) keys"
            }
        let place = line.map { " (line \($0))" } ?? ""
        return "The YAML document \(excess)\(place). Decode it with larger limits if its sender can be trusted."
    }

    /// The same as ``description``.
    public var errorDescription: String? { description }
}

// MARK: - Encodings

/// The text of a YAML document, whose encoding shows in its first bytes (YAML 1.2.2, section 5.2).
enum YAMLText {
    /// - Throws: `DecodingError.dataCorrupted` when the bytes are not of their encoding.
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
