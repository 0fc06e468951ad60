public import Foundation

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
