public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// A serializer made from a closure.
///
/// ```swift
/// let lines = DataResponseSerializer<[Substring]> { _, _, data, error in
///     if let error { throw error }
///     return String(decoding: data ?? Data(), as: UTF8.self).split(separator: "\n")
/// }
/// ```
///
/// Without a closure, where `Value` is `Data`, it is the serializer that gives the bytes themselves; AfarSerializers adds
/// that initializer.
public final class DataResponseSerializer<Value>: ResponseSerializer {
    /// Changes the bytes before they are serialized.
    public let dataPreprocessor: any DataPreprocessor
    /// The methods whose responses may be empty.
    public let emptyRequestMethods: Set<HTTPMethod>
    /// The status codes whose responses may be empty.
    public let emptyResponseCodes: Set<Int>
    private let serializeInput: @Sendable (DataResponseSerializer, SerializationInput) throws -> Value

    /// Makes a serializer from a closure.
    ///
    /// - Parameter serialize: Makes the value from the request, the response's head, its bytes, and what went wrong
    ///   before.
    @preconcurrency
    public convenience init(
        _ serialize: @escaping @Sendable (URLRequest?, HTTPURLResponse?, Data?, (any Error)?) throws -> Value
    ) {
        self.init { _, input in try serialize(input.request, input.response, input.data, input.error) }
    }

    package init(
        dataPreprocessor: any DataPreprocessor = PassthroughPreprocessor(),
        emptyResponseCodes: Set<Int> = [204, 205],
        emptyRequestMethods: Set<HTTPMethod> = [.head],
        serializing serializeInput: @escaping @Sendable (DataResponseSerializer, SerializationInput) throws -> Value
    ) {
        self.dataPreprocessor = dataPreprocessor
        self.emptyResponseCodes = emptyResponseCodes
        self.emptyRequestMethods = emptyRequestMethods
        self.serializeInput = serializeInput
    }

    /// Makes the value.
    public func serialize(_ input: SerializationInput) throws -> Value { try serializeInput(self, input) }

    /// Makes the value.
    public func serialize(
        request: URLRequest?, response: HTTPURLResponse?, data: Data?, error: (any Error)?
    ) throws -> Value {
        try serialize(SerializationInput(request: request, response: response, data: data, error: error))
    }
}
