public import AfarCore
public import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension Session {
    /// Creates a download that requests several parts of a file at the same time.
    ///
    /// ```swift
    /// let file = try await session.download(url, parallel: 4, to: destination).value
    /// ```
    ///
    /// Use it if the server or the network limits the speed of each connection. Most servers send a file as fast as the network allows, so
    /// one request is enough. See ``download(_:parallel:interceptor:prepare:to:)`` for the rules and the other parameters.
    ///
    /// - Parameters:
    ///   - url: The URL of the file.
    ///   - parallel: The maximum number of simultaneous requests, at least 1. The session's
    ///     ``SessionConfiguration/httpMaximumConnectionsPerHost`` also limits it. The default limit is 6.
    ///   - headers: The headers of all requests. The default is none.
    ///   - interceptor: The interceptor of all requests. The default is nil.
    ///   - prepare: A closure that changes each request.
    ///   - file: The destination. An existing file is replaced, and missing directories are created.
    @preconcurrency
    public func download(
        _ url: any URLConvertible, parallel: Int, headers: HTTPHeaders? = nil,
        interceptor: (any RequestInterceptor)? = nil,
        prepare: @escaping @Sendable (DataStreamRequest) -> Void = { _ in }, to file: URL
    ) -> ParallelDownload {
        ParallelDownload(
            FileRequest(url: url, headers: headers), parallel, session: self, interceptor, prepare, to: file)
    }

    /// Creates a download that requests several parts of a file at the same time, from a value that can be converted to a `URLRequest`.
    ///
    /// The first request is for the first megabyte. If its response has a strong validator (RFC 9110, section 8.8), the remaining bytes are
    /// requested in parts of decreasing size, at least 1 MiB, so that all requests end at about the same time. The value is converted for
    /// each request, and each request passes through the session's interceptors, redirects and authentication. A small file needs only one
    /// request. If the server doesn't support ranges, its response to the first request is the whole file.
    ///
    /// All responses must have the same validator, report the same length of the whole file, and come from the same scheme, host and port.
    /// Otherwise, the download fails with a ``ParallelDownloadError``. If the URL redirects, the other parts are requested from the URL
    /// that sent the first part, without credentials if its origin differs. If that URL fails, the original one is requested again. Content
    /// codings aren't requested, and an encoded response is an error.
    ///
    /// If a connection is lost after the download has begun, only the missing bytes of its part are requested again, after a delay of 0.5
    /// to 8 seconds (``SessionConfiguration/timeSource``). The missing bytes are also requested again after the status codes 408, 429,
    /// 500, 502, 503 and 504. A `Retry-After` of up to 60 seconds lengthens the delay. A part fails after five consecutive retries without
    /// 1 MiB of progress, or if `Retry-After` is longer than 60 seconds. The other requests then load the rest of the part. Therefore, a
    /// server that limits the number of connections slows the download down, but doesn't make it fail. The session's
    /// ``SessionConfiguration/timeoutIntervalForResource`` limits the time of the whole download.
    ///
    /// The bytes are written to a temporary file next to the destination. It is moved when it is complete, and removed if the download
    /// fails or is canceled. If the process is killed, a file whose name begins with `.afar-` remains. If the destination is a
    /// directory, the download fails with ``AFError/downloadedFileMoveFailed(error:source:destination:)`` before the first request.
    ///
    /// - Parameters:
    ///   - convertible: Creates the GET request of each part.
    ///   - parallel: The maximum number of simultaneous requests, at least 1. The session's
    ///     ``SessionConfiguration/httpMaximumConnectionsPerHost`` (6 by default) also limits it, because a request that waits for a
    ///     connection could time out.
    ///   - interceptor: Adapts and retries each request. The default is nil.
    ///   - prepare: Called with each request before it starts, for example to add a credential. The default does nothing.
    ///   - file: The destination. An existing file is replaced, and missing directories are created.
    @preconcurrency
    public func download(
        _ convertible: any URLRequestConvertible, parallel: Int, interceptor: (any RequestInterceptor)? = nil,
        prepare: @escaping @Sendable (DataStreamRequest) -> Void = { _ in }, to file: URL
    ) -> ParallelDownload {
        ParallelDownload(convertible, parallel, session: self, interceptor, prepare, to: file)
    }
}

private struct FileRequest: URLRequestConvertible {
    let url: any URLConvertible
    let headers: HTTPHeaders?

    func asURLRequest() throws -> URLRequest { try URLRequest(url: url, method: .get, headers: headers) }
}
