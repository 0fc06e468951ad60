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

/// Changes a response's bytes before they are serialized.
public protocol DataPreprocessor: Sendable {
    /// The bytes to serialize.
    ///
    /// - Throws: Anything; it fails the serialization.
    func preprocess(_ data: Data) throws -> Data
}

/// Leaves the bytes as they are.
public struct PassthroughPreprocessor: DataPreprocessor {
    /// Makes the preprocessor.
    public init() {}

    /// The same bytes.
    public func preprocess(_ data: Data) throws -> Data { data }
}

/// Takes away the line that Google's services put before JSON: `)]}',` and a line end.
public struct GoogleXSSIPreprocessor: DataPreprocessor {
    private static let prefix = Data(")]}',\n".utf8)

    /// Makes the preprocessor.
    public init() {}

    /// The bytes after the line, or all of them when it is not there.
    public func preprocess(_ data: Data) throws -> Data {
        data.starts(with: Self.prefix) ? data.dropFirst(Self.prefix.count) : data
    }
}

extension DataPreprocessor where Self == PassthroughPreprocessor {
    /// Leaves the bytes as they are.
    public static var passthrough: PassthroughPreprocessor { PassthroughPreprocessor() }
}

extension DataPreprocessor where Self == GoogleXSSIPreprocessor {
    /// Takes away the line that Google's services put before JSON.
    public static var googleXSSI: GoogleXSSIPreprocessor { GoogleXSSIPreprocessor() }
}
