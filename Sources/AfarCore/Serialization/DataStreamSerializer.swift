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

/// Makes values of a streamed body wherever its chunks end: lines, records, events.
///
/// A ``DataStreamSerializer`` sees each chunk by itself; a parser keeps what the last chunk left unfinished. It is a value:
/// each body is read by a copy of the one that was given, so a body that a retry begins anew finds nothing left of the one
/// before.
///
/// ```swift
/// struct LengthParser: DataStreamParser {
///     mutating func parse(_ chunk: Data) -> [Result<Int, AFError>] { [.success(chunk.count)] }
/// }
/// ```
public protocol DataStreamParser<Value>: Sendable {
    /// What is made.
    associatedtype Value: Sendable

    /// A body begins. By default nothing needs to be known of its head.
    ///
    /// - Parameter head: The head of the response, which may say how the body is encoded.
    mutating func begin(_ head: ResponseHead)

    /// Takes the body's next bytes.
    ///
    /// What it must keep for later should be bounded, as the server decides on what comes.
    ///
    /// - Returns: What these bytes complete, in order. A failure is handed on as a value is, and ends the request if
    ///   ``DataStreamRequest/automaticallyCancelOnStreamError`` says so.
    mutating func parse(_ chunk: Data) -> [Result<Value, AFError>]

    /// The body has come to its end. This is not called when it has broken off. By default there is nothing left.
    ///
    /// - Returns: What the end completes, in order.
    mutating func finish() -> [Result<Value, AFError>]
}

extension DataStreamParser {
    /// Nothing needs to be known of the head.
    public mutating func begin(_ head: ResponseHead) {}

    /// There is nothing left.
    public mutating func finish() -> [Result<Value, AFError>] { [] }
}
