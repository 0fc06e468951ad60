public import AfarCore
public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// Sends the bodies of requests with the content coding `deflate`.
public typealias DeflateRequestCompressor = RequestCompressor<DeflateCoding>

/// Sends the bodies of requests with the content coding `gzip`.
public typealias GzipRequestCompressor = RequestCompressor<GzipCoding>

/// Sends the bodies of requests compressed, and says so in `Content-Encoding`.
///
/// It changes bodies that a `URLRequest` has in memory, as those that a parameter encoder makes. A request without one, one
/// whose body is a stream, and the data or file of an upload stay as they are.
///
/// A client cannot know beforehand what a server decodes, so ask before you use this: one that decodes nothing answers 415
/// at best. Small bodies become no smaller in effect, and images are compressed already; `shouldCompressBodyData` can leave
/// them alone. Compressing takes the time of the task that prepares the request, or of the session's `requestQueue`: about
/// a second for 50 MB.
public struct RequestCompressor<Coding: BodyCoding>: RequestInterceptor {
    /// What to do with a request that has a `Content-Encoding` already.
    public enum DuplicateHeaderBehavior: Sendable {
        /// Fail the request with a ``DuplicateHeaderError``.
        case error
        /// Compress the body, whatever it is, and put this coding in the header's place.
        case replace
        /// Send the request as it is.
        case skip
    }

    /// A request has a `Content-Encoding` already, which may mean that its body is compressed already.
    public struct DuplicateHeaderError: Error, Sendable {
        /// Makes the error.
        public init() {}
    }

    /// What to do with a request that has a `Content-Encoding` already.
    public let duplicateHeaderBehavior: DuplicateHeaderBehavior

    /// Whether a body is to be compressed.
    public let shouldCompressBodyData: @Sendable (_ bodyData: Data) -> Bool

    /// Makes a compressor.
    ///
    /// - Parameters:
    ///   - duplicateHeaderBehavior: What to do with a request that has a `Content-Encoding` already. The default is
    ///     `.error`.
    ///   - shouldCompressBodyData: Whether a body is to be compressed. It is called on an unspecified thread. By
    ///     default every body is.
    @preconcurrency
    public init(
        duplicateHeaderBehavior: DuplicateHeaderBehavior = .error,
        shouldCompressBodyData: @escaping @Sendable (_ bodyData: Data) -> Bool = { _ in true }
    ) {
        self.duplicateHeaderBehavior = duplicateHeaderBehavior
        self.shouldCompressBodyData = shouldCompressBodyData
    }

    /// Compresses the request's body, sets `Content-Encoding`, and removes a `Content-Length`, which tells of the body
    /// before.
    ///
    /// The completion takes a ``DuplicateHeaderError``, or what the coding throws, where that fails.
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
    /// What was wrong, for a person.
    public var errorDescription: String? {
        "The request has a Content-Encoding already, so its body was not compressed to \(Coding.name). "
            + "Remove the header, or choose .skip or .replace."
    }
}
