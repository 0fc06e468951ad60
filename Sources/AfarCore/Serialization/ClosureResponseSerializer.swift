public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// A serializer made from a closure.
///
/// ```swift
/// let lines = ClosureResponseSerializer<[Substring]> { _, _, data, error in
///     if let error { throw error }
///     return String(decoding: data ?? Data(), as: UTF8.self).split(separator: "\n")
/// }
/// ```
///
/// The closure decides by itself which responses may be empty. For a download it is given the whole file's bytes.
public final class ClosureResponseSerializer<Value>: ResponseSerializer {
    private let serializeResponse: @Sendable (URLRequest?, HTTPURLResponse?, Data?, (any Error)?) throws -> Value

    /// Makes a serializer.
    ///
    /// - Parameter serializeResponse: Makes the value from the request, the response's head, its bytes, and what went
    ///   wrong before. What it throws fails the request; an error that is no ``AFError`` is put into one.
    @preconcurrency
    public init(
        _ serializeResponse: @escaping @Sendable (URLRequest?, HTTPURLResponse?, Data?, (any Error)?) throws -> Value
    ) {
        self.serializeResponse = serializeResponse
    }

    /// Makes the value.
    ///
    /// - Throws: What the closure throws.
    public func serialize(
        request: URLRequest?, response: HTTPURLResponse?, data: Data?, error: (any Error)?
    ) throws -> Value {
        try serializeResponse(request, response, data, error)
    }
}

/// Gives the place of a downloaded file.
public struct URLResponseSerializer: DownloadResponseSerializerProtocol {
    /// Makes the serializer.
    public init() {}

    /// The place of the file.
    ///
    /// - Throws: The error of before, or ``AFError/ResponseSerializationFailureReason/inputFileNil``.
    public func serializeDownload(
        request: URLRequest?, response: HTTPURLResponse?, fileURL: URL?, error: (any Error)?
    ) throws -> URL {
        if let error { throw error }
        guard let fileURL else { throw AFError.responseSerializationFailed(reason: .inputFileNil) }
        return fileURL
    }
}

extension DownloadResponseSerializerProtocol where Self == URLResponseSerializer {
    /// Gives the place of a downloaded file.
    public static var url: URLResponseSerializer { URLResponseSerializer() }
}

/// A type that has a value for a response without a body.
public protocol EmptyResponse: Sendable {
    /// The value for no body.
    static func emptyValue() -> Self
}

/// What a response without a body decodes to.
public struct Empty: Codable, Sendable, Hashable, EmptyResponse {
    /// The shared value.
    public static let value = Empty()

    /// The shared value.
    public static func emptyValue() -> Empty { value }
}
