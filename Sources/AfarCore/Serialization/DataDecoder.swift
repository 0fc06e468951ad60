public import Foundation

/// Decodes values from bytes. Foundation's decoders conform; others can.
public protocol DataDecoder: Sendable {
    /// Decodes a value.
    ///
    /// - Throws: What the decoder throws.
    func decode<D: Decodable>(_ type: D.Type, from data: Data) throws -> D
}

extension JSONDecoder: DataDecoder {}
extension PropertyListDecoder: DataDecoder {}
