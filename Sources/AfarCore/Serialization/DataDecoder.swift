public import Foundation

/// A type that decodes values from bytes. Foundation's decoders conform to it.
public protocol DataDecoder: Sendable {
    /// Decodes a value.
    ///
    /// - Throws: The decoder's error.
    func decode<D: Decodable>(_ type: D.Type, from data: Data) throws -> D

    /// Decodes a value from a response's bytes. The default implementation ignores the head.
    ///
    /// - Parameters:
    ///   - type: The type to decode.
    ///   - data: The bytes.
    ///   - head: The response's head, for formats whose encoding the `Content-Type` header specifies.
    /// - Throws: The decoder's error.
    func decode<D: Decodable>(_ type: D.Type, from data: Data, of head: ResponseHead?) throws -> D
}

extension DataDecoder {
    /// Decodes a value and ignores the head.
    public func decode<D: Decodable>(_ type: D.Type, from data: Data, of head: ResponseHead?) throws -> D {
        try decode(type, from: data)
    }
}

extension JSONDecoder: DataDecoder {}
extension PropertyListDecoder: DataDecoder {}

/// A type that changes a response's bytes before they are serialized.
public protocol DataPreprocessor: Sendable {
    /// Returns the bytes to serialize.
    ///
    /// - Throws: Any error. It fails the serialization.
    func preprocess(_ data: Data) throws -> Data
}

/// A preprocessor that returns the bytes unchanged.
public struct PassthroughPreprocessor: DataPreprocessor {
    /// Creates the preprocessor.
    public init() {}

    /// Returns the bytes unchanged.
    public func preprocess(_ data: Data) throws -> Data { data }
}

/// A preprocessor that removes the line that Google's services add before JSON: `)]}',` and a newline.
public struct GoogleXSSIPreprocessor: DataPreprocessor {
    private static let prefix = Data(")]}',\n".utf8)

    /// Creates the preprocessor.
    public init() {}

    /// Returns the bytes after this line, or all bytes if they don't begin with it.
    public func preprocess(_ data: Data) throws -> Data {
        data.starts(with: Self.prefix) ? data.dropFirst(Self.prefix.count) : data
    }
}

extension DataPreprocessor where Self == PassthroughPreprocessor {
    /// Returns the bytes unchanged.
    public static var passthrough: PassthroughPreprocessor { PassthroughPreprocessor() }
}

extension DataPreprocessor where Self == GoogleXSSIPreprocessor {
    /// Removes the line that Google's services add before JSON.
    public static var googleXSSI: GoogleXSSIPreprocessor { GoogleXSSIPreprocessor() }
}
