public import AfarCore
import HTTPTypes

#if canImport(FoundationNetworking)
    import Foundation
    public import FoundationNetworking
#else
    public import Foundation
#endif

/// Carries exchanges over Foundation's `URLSession`.
///
/// On Apple's platforms it brings what the system does: the user's proxies, mobile networks, HTTP/3. On Linux, where
/// Foundation has an implementation of its own (swift-corelibs-foundation, above libcurl), it is a second choice, for
/// programs that cannot link libcurl themselves. What it cannot do there, and why, is listed in ``Limitation``; what an
/// exchange demands beyond ``capabilities`` is refused before a byte is sent.
///
/// The session's own cookies, cache, credentials and redirects are turned off: these are written once, above the
/// transports. A 3xx or a 401 comes back as the response that it is.
///
/// Both timeouts are this transport's own timers, and time spent waiting for one of the session's connections counts
/// as idle: `URLSession` does not say when it is over.
public final class URLSessionTransport: Transport {
    private let session: URLSession
    let delegate = ExchangeDelegate()
    private let streamBufferLimit: Int

    /// Makes a transport with a session of its own.
    ///
    /// - Parameters:
    ///   - configuration: The session's configuration. A copy is used, with cookies, cache and credentials turned off.
    ///   - streamBufferLimit: The bytes of a streamed body that may wait for a slow reader where `URLSession` cannot
    ///     hold the server back (Linux). An exchange that exceeds it fails with
    ///     ``TransportError/Code-swift.struct/responseTooLarge``.
    public init(configuration: URLSessionConfiguration = .ephemeral, streamBufferLimit: Int = 64 * 1024 * 1024) {
        self.streamBufferLimit = streamBufferLimit
        let own = (configuration.copy() as? URLSessionConfiguration) ?? .ephemeral
        own.httpCookieStorage = nil
        own.httpShouldSetCookies = false
        own.httpCookieAcceptPolicy = .never
        own.urlCache = nil
        own.requestCachePolicy = .reloadIgnoringLocalCacheData
        own.urlCredentialStorage = nil
        let queue = BoundedQueue()
        queue.maxConcurrentOperationCount = 1
        session = URLSession(configuration: own, delegate: delegate, delegateQueue: queue)
    }

    deinit {
        session.finishTasksAndInvalidate()
    }

    /// What `URLSession` can do on this platform.
    public var capabilities: TransportCapabilities { Platform.capabilities }

    /// Performs one exchange as one task of the session.
    public func send(_ exchange: Exchange) async throws -> TransportResponse {
        try capabilities.check(exchange)
        let request = try URLRequest(exchange)
        let running = RunningExchange(exchange, streamBufferLimit: streamBufferLimit)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                running.start(answering: continuation) {
                    let task = session.task(for: exchange.body, request: request)
                    delegate.add(running, for: task)
                    return task
                }
            }
        } onCancel: {
            running.cancel()
        }
    }
}

extension URLSession {
    /// Upload tasks, because a data task with a body adds a Content-Type to a POST that has none on Linux.
    fileprivate func task(for body: RequestBody, request: URLRequest) -> URLSessionTask {
        switch body {
        case .none, .stream: dataTask(with: request)
        case .data(let data) where data.isEmpty && request.httpMethod == "GET": dataTask(with: request)
        case .data(let data): uploadTask(with: request, from: data)
        case .file(let url): uploadTask(with: request, fromFile: url)
        }
    }
}
