public import AfarCore
import AfarTransport
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
/// Clients can't detect which codings a server decodes, so make sure that your server supports this coding. At best, a server that
/// doesn't support it responds with 415. If the request is validated, the interceptor then retries it once without compression.
/// Compressing small bodies or images saves little, so exclude them with `shouldCompressBodyData`. Compression runs in the task that
/// prepares the request, or on the session's `requestQueue`, and takes about a second for 50 MB.
public struct RequestCompressor<Coding: BodyCoding>: RequestInterceptor {
    /// What to do with a request that already has a `Content-Encoding`.
    public enum DuplicateHeaderBehavior: Sendable {
        /// Fails the request with a ``DuplicateHeaderError``.
        case error
        /// Compresses the body, and replaces the header with this coding.
        case replace
        /// Sends the request unchanged.
        case skip
    }

    /// An error that occurs if a request already has a `Content-Encoding`. The body may already be compressed.
    public struct DuplicateHeaderError: Error, Sendable {
        /// Creates the error.
        public init() {}
    }

    /// What to do with a request that already has a `Content-Encoding`.
    public let duplicateHeaderBehavior: DuplicateHeaderBehavior

    /// A closure that returns whether to compress a body.
    public let shouldCompressBodyData: @Sendable (_ bodyData: Data) -> Bool

    private let refused = RefusedRequests()

    /// Creates a compressor.
    ///
    /// - Parameters:
    ///   - duplicateHeaderBehavior: What to do with a request that already has a `Content-Encoding`. The default is `.error`.
    ///   - shouldCompressBodyData: Returns whether to compress a body. The closure is called on an unspecified thread. By default, every
    ///     body is compressed.
    @preconcurrency
    public init(
        duplicateHeaderBehavior: DuplicateHeaderBehavior = .error,
        shouldCompressBodyData: @escaping @Sendable (_ bodyData: Data) -> Bool = { _ in true }
    ) {
        self.duplicateHeaderBehavior = duplicateHeaderBehavior
        self.shouldCompressBodyData = shouldCompressBodyData
    }

    /// Compresses the request's body, sets `Content-Encoding`, and removes `Content-Length`, which no longer applies.
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

    /// Compresses the request's body like ``adapt(_:for:completion:)``, unless the server has refused the compressed body.
    @preconcurrency
    public func adapt(
        _ urlRequest: URLRequest,
        using state: RequestAdapterState,
        completion: @escaping @Sendable (_ result: Result<URLRequest, any Error>) -> Void
    ) {
        completion(Result { refused.contains(state.requestID) ? urlRequest : try compressing(urlRequest) })
    }

    /// Retries a request once, without compression, if the server has refused the compressed body with the status 415 (RFC 9110, section
    /// 15.5.16).
    @preconcurrency
    public func retry(
        _ request: Request,
        for session: Session,
        dueTo error: any Error,
        completion: @escaping @Sendable (RetryResult) -> Void
    ) {
        let isRefused =
            request.response?.statusCode == 415
            && request.request?.value(forHTTPHeaderField: "Content-Encoding") == Coding.name
            // A coding that the caller applied can't be removed.
            && request.firstRequest?.value(forHTTPHeaderField: "Content-Encoding") == nil
        completion(isRefused && refused.insert(request) ? .retry : .doNotRetry)
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

/// The requests whose compressed bodies a server has refused. Deallocated requests are removed from time to time.
private final class RefusedRequests: Sendable {
    private struct Refusal {
        weak var request: Request?
    }

    private struct State {
        var refusals: [UUID: Refusal] = [:]
        /// When the number of refusals reaches this limit, the refusals of deallocated requests are removed.
        var limit = smallestLimit
    }

    private static let smallestLimit = 64

    private let state = Locked(State())

    func contains(_ identifier: UUID) -> Bool { state.withLock { $0.refusals[identifier] != nil } }

    /// Returns false if the set already contains the request.
    func insert(_ request: Request) -> Bool {
        // The requests are released outside the lock, because releasing them can run other code.
        let (isNew, _) = state.withLock { state -> (Bool, [Request]) in
            guard state.refusals[request.id] == nil else { return (false, []) }
            state.refusals[request.id] = Refusal(request: request)
            guard state.refusals.count >= state.limit else { return (true, []) }
            let remaining = state.refusals.values.compactMap(\.request)
            state.refusals = [:]
            for request in remaining { state.refusals[request.id] = Refusal(request: request) }
            state.limit = max(Self.smallestLimit, 2 * remaining.count)
            return (true, remaining)
        }
        return isNew
    }
}

extension RequestCompressor.DuplicateHeaderError: LocalizedError {
    /// A description for users.
    public var errorDescription: String? {
        "The request has a Content-Encoding already, so its body was not compressed to \(Coding.name). "
            + "Remove the header, or choose .skip or .replace."
    }
}
