public import Foundation

/// Makes a value of each chunk of a streamed response, by itself.
public protocol DataStreamSerializer<SerializedObject>: Sendable {
    /// What is made.
    associatedtype SerializedObject: Sendable

    /// Makes the value.
    ///
    /// - Throws: Anything; what is no ``AFError`` is put into one.
    func serialize(_ data: Data) throws -> SerializedObject
}

/// Gives the chunks as they are.
public struct PassthroughStreamSerializer: DataStreamSerializer {
    /// Makes the serializer.
    public init() {}

    /// The same bytes.
    public func serialize(_ data: Data) throws -> Data { data }
}

extension DataStreamSerializer where Self == PassthroughStreamSerializer {
    /// Gives the chunks as they are.
    public static var passthrough: PassthroughStreamSerializer { PassthroughStreamSerializer() }
}
