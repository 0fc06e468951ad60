public import Foundation

/// Decodes values from bytes. Foundation's decoders conform; others can.
public protocol DataDecoder: Sendable {
    /// Decodes a value.
    ///
    /// - Throws: What the decoder throws.
    func decode<D: Decodable>(_ type: D.Type, from data: Data) throws -> D

    /// Decodes a value from a response's bytes. By default the head is not looked at.
    ///
    /// - Parameter contentType: The response's Content-Type, for formats whose encoding it tells.
    /// - Throws: What the decoder throws.
    func decode<D: Decodable>(_ type: D.Type, from data: Data, contentType: String?) throws -> D
}

extension DataDecoder {
    /// Decodes a value without a look at the Content-Type.
    public func decode<D: Decodable>(_ type: D.Type, from data: Data, contentType: String?) throws -> D {
        try decode(type, from: data)
    }
}

extension JSONDecoder: DataDecoder {}
extension PropertyListDecoder: DataDecoder {}
