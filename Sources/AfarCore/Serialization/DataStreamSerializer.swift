public import Foundation

/// A type that creates a value from each chunk of a streamed response separately.
public protocol DataStreamSerializer<SerializedObject>: Sendable {
    /// The type of the values.
    associatedtype SerializedObject: Sendable

    /// Creates a value from a chunk.
    ///
    /// - Throws: Any error. An error that isn't an ``AFError`` is wrapped in one.
    func serialize(_ data: Data) throws -> SerializedObject
}

/// A serializer that returns chunks unchanged.
public struct PassthroughStreamSerializer: DataStreamSerializer {
    /// Creates the serializer.
    public init() {}

    /// Returns the bytes unchanged.
    public func serialize(_ data: Data) throws -> Data { data }
}

extension DataStreamSerializer where Self == PassthroughStreamSerializer {
    /// Returns chunks unchanged.
    public static var passthrough: PassthroughStreamSerializer { PassthroughStreamSerializer() }
}

/// A type that creates values from a streamed body independently of the boundaries of its chunks: lines, records or events.
///
/// A ``DataStreamSerializer`` processes each chunk separately. A parser keeps the incomplete rest of the last chunk. Each body
/// is parsed by its own copy of the parser, so the body of a retry begins without the rest of the previous body.
///
/// ```swift
/// struct LengthParser: DataStreamParser {
///     mutating func parse(_ chunk: Data) -> [Result<Int, AFError>] { [.success(chunk.count)] }
/// }
/// ```
public protocol DataStreamParser<Value>: Sendable {
    /// The type of the values.
    associatedtype Value: Sendable

    /// Called when a body begins. The default implementation does nothing.
    ///
    /// - Parameter head: The head of the response, which can specify the encoding of the body.
    mutating func begin(_ head: ResponseHead)

    /// Parses the next bytes of the body.
    ///
    /// Limit how much the parser stores for later, because the server determines how much it sends.
    ///
    /// - Returns: The values that these bytes complete, in order. A failure is delivered like a value, and ends the request if
    ///   ``DataStreamRequest/automaticallyCancelOnStreamError`` is true.
    mutating func parse(_ chunk: Data) -> [Result<Value, AFError>]

    /// Called when the body is complete, but not when it was interrupted. The default implementation returns no values.
    ///
    /// - Returns: The values that the end of the body completes, in order.
    mutating func finish() -> [Result<Value, AFError>]
}

extension DataStreamParser {
    /// Does nothing.
    public mutating func begin(_ head: ResponseHead) {}

    /// Returns no values.
    public mutating func finish() -> [Result<Value, AFError>] { [] }
}
