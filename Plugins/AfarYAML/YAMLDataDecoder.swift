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
