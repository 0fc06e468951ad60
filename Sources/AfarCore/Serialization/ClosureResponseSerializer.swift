public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// A serializer that calls a closure.
///
/// ```swift
/// let lines = ClosureResponseSerializer<[Substring]> { _, _, data, error in
///     if let error { throw error }
///     return String(decoding: data ?? Data(), as: UTF8.self).split(separator: "\n")
/// }
/// ```
///
/// The closure decides which responses can be empty. For a download, it receives the bytes of the whole file.
public final class ClosureResponseSerializer<Value>: ResponseSerializer {
    private let serializeResponse: @Sendable (URLRequest?, HTTPURLResponse?, Data?, (any Error)?) throws -> Value

    /// Creates a serializer.
    ///
    /// - Parameter serializeResponse: Creates the value from the request, the response's head, its bytes, and the error of an
    ///   earlier step. If it throws, the request fails; an error that isn't an ``AFError`` is wrapped in one.
    @preconcurrency
    public init(
        _ serializeResponse: @escaping @Sendable (URLRequest?, HTTPURLResponse?, Data?, (any Error)?) throws -> Value
    ) {
        self.serializeResponse = serializeResponse
    }

    /// Creates the value.
    ///
    /// - Throws: The error that the closure throws.
    public func serialize(
        request: URLRequest?, response: HTTPURLResponse?, data: Data?, error: (any Error)?
    ) throws -> Value {
        try serializeResponse(request, response, data, error)
    }
}

/// A serializer that returns the location of a downloaded file.
public struct URLResponseSerializer: DownloadResponseSerializerProtocol {
    /// Creates the serializer.
    public init() {}

    /// Returns the location of the file.
    ///
    /// - Throws: The error of an earlier step, or ``AFError/ResponseSerializationFailureReason/inputFileNil``.
    public func serializeDownload(
        request: URLRequest?, response: HTTPURLResponse?, fileURL: URL?, error: (any Error)?
    ) throws -> URL {
        if let error { throw error }
        guard let fileURL else { throw AFError.responseSerializationFailed(reason: .inputFileNil) }
        return fileURL
    }
}

extension DownloadResponseSerializerProtocol where Self == URLResponseSerializer {
    /// Returns the location of a downloaded file.
    public static var url: URLResponseSerializer { URLResponseSerializer() }
}

/// A type that provides a value for a response without a body.
public protocol EmptyResponse: Sendable {
    /// The value for an empty body.
    static func emptyValue() -> Self
}

/// A type that represents a response without a body.
public struct Empty: Codable, Sendable, Hashable, EmptyResponse {
    /// The shared value.
    public static let value = Empty()

    /// The shared value.
    public static func emptyValue() -> Empty { value }
}
