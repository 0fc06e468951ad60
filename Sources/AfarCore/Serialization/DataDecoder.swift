public import Foundation

/// Decodes values from bytes. Foundation's decoders conform; others can.
public protocol DataDecoder: Sendable {
    /// Decodes a value.
    ///
    /// - Throws: What the decoder throws.
    func decode<D: Decodable>(_ type: D.Type, from data: Data) throws -> D

    /// Decodes a value from a response's bytes. By default the head is not looked at.
    ///
    /// - Parameters:
    ///   - type: What to decode.
    ///   - data: The bytes.
    ///   - head: The response's head, for formats whose encoding its Content-Type tells.
    /// - Throws: What the decoder throws.
    func decode<D: Decodable>(_ type: D.Type, from data: Data, of head: ResponseHead?) throws -> D
}

extension DataDecoder {
    /// Decodes a value without a look at the head.
    public func decode<D: Decodable>(_ type: D.Type, from data: Data, of head: ResponseHead?) throws -> D {
        try decode(type, from: data)
    }
}

extension JSONDecoder: DataDecoder {}
extension PropertyListDecoder: DataDecoder {}
