public import AfarCore
public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// An interceptor that compresses request bodies with the content coding `deflate`.
public typealias DeflateRequestCompressor = RequestCompressor<DeflateCoding>

/// An interceptor that compresses request bodies with the content coding `gzip`.
public typealias GzipRequestCompressor = RequestCompressor<GzipCoding>

/// An interceptor that compresses request bodies and sets `Content-Encoding`.
///
/// The interceptor compresses bodies that a `URLRequest` holds in memory, such as bodies from parameter encoders. It doesn't
/// change requests without a body, streamed bodies, or the data or file of an upload.
///
/// Clients can't detect which codings a server decodes, so make sure that your server supports this coding. A server without
/// this support responds with 415 at best. Compressing small bodies or images saves little, so exclude them with
/// `shouldCompressBodyData`. Compression runs in the task that prepares the request, or on the session's `requestQueue`, and
/// takes about a second for 50 MB.
public struct RequestCompressor<Coding: BodyCoding>: RequestInterceptor {
    /// The treatment of a request that already has a `Content-Encoding`.
    public enum DuplicateHeaderBehavior: Sendable {
        /// Fails the request with a ``DuplicateHeaderError``.
        case error
        /// Compresses the body, and replaces the header with this coding.
        case replace
        /// Sends the request unchanged.
        case skip
    }

    /// An error that occurs if a request already has a `Content-Encoding`, so its body may already be compressed.
    public struct DuplicateHeaderError: Error, Sendable {
        /// Creates the error.
        public init() {}
    }

    /// The treatment of a request that already has a `Content-Encoding`.
    public let duplicateHeaderBehavior: DuplicateHeaderBehavior

    /// A closure that returns whether to compress a body.
    public let shouldCompressBodyData: @Sendable (_ bodyData: Data) -> Bool

    /// Creates a compressor.
    ///
    /// - Parameters:
    ///   - duplicateHeaderBehavior: The treatment of a request that already has a `Content-Encoding`. The default is `.error`.
    ///   - shouldCompressBodyData: Returns whether to compress a body. It is called on an unspecified thread. By default, every
    ///     body is compressed.
    @preconcurrency
    public init(
        duplicateHeaderBehavior: DuplicateHeaderBehavior = .error,
        shouldCompressBodyData: @escaping @Sendable (_ bodyData: Data) -> Bool = { _ in true }
    ) {
        self.duplicateHeaderBehavior = duplicateHeaderBehavior
        self.shouldCompressBodyData = shouldCompressBodyData
    }

    /// Compresses the request's body, sets `Content-Encoding`, and removes `Content-Length`, which is the length of the original
    /// body.
    ///
    /// On failure, the completion receives a ``DuplicateHeaderError`` or the coding's error.
    @preconcurrency
    public func adapt(
        _ urlRequest: URLRequest,
        for session: Session,
        completion: @escaping @Sendable (_ result: Result<URLRequest, any Error>) -> Void
    ) {
        completion(Result { try compressing(urlRequest) })
    }

    private func compressing(_ urlRequest: URLRequest) throws -> URLRequest {
        guard let body = urlRequest.httpBody, shouldCompressBodyData(body) else { return urlRequest }
        if urlRequest.value(forHTTPHeaderField: "Content-Encoding") != nil {
            switch duplicateHeaderBehavior {
            case .error: throw DuplicateHeaderError()
            case .replace: break
            case .skip: return urlRequest
            }
        }
        var compressed = urlRequest
        compressed.httpBody = try Coding.encode(body)
        compressed.setValue(Coding.name, forHTTPHeaderField: "Content-Encoding")
        compressed.setValue(nil, forHTTPHeaderField: "Content-Length")
        return compressed
    }
}

extension RequestCompressor.DuplicateHeaderError: LocalizedError {
    /// A description for users.
    public var errorDescription: String? {
        "The request has a Content-Encoding already, so its body was not compressed to \(Coding.name). "
            + "Remove the header, or choose .skip or .replace."
    }
}
