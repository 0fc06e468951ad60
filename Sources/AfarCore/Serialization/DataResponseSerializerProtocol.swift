public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// Makes a value of a response in memory.
///
/// Implement ``serialize(request:response:data:error:)``. A serializer that is used for very many small responses gains by
/// implementing ``serialize(_:)`` too, which does not need Foundation's `HTTPURLResponse`.
public protocol DataResponseSerializerProtocol<SerializedObject>: Sendable {
    /// What is made.
    associatedtype SerializedObject

    /// Makes the value.
    ///
    /// - Parameters:
    ///   - request: The request that was sent.
    ///   - response: The response's head.
    ///   - data: The response's bytes; nil when there are none.
    ///   - error: What went wrong before; throw it, unless the serializer can do without.
    /// - Throws: Anything; what is no ``AFError`` is put into one.
    func serialize(
        request: URLRequest?, response: HTTPURLResponse?, data: Data?, error: (any Error)?
    ) throws -> SerializedObject

    /// Makes the value. The default calls ``serialize(request:response:data:error:)``.
    func serialize(_ input: SerializationInput) throws -> SerializedObject
}

extension DataResponseSerializerProtocol {
    /// Calls ``serialize(request:response:data:error:)``.
    public func serialize(_ input: SerializationInput) throws -> SerializedObject {
        try serialize(request: input.request, response: input.response, data: input.data, error: input.error)
    }
}
