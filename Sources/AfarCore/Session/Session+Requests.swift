public import Foundation
import HTTPTypes

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension Session {
    /// Calls a closure with the requests that have started and haven't finished.
    ///
    /// - Parameter action: Called once, on the ``rootQueue``.
    @preconcurrency
    public func withAllRequests(perform action: @escaping @Sendable (Set<Request>) -> Void) {
        rootQueue.asyncKeepingTransport { [state] in action(Set(state.running)) }
    }

    /// Cancels the requests that have started and haven't finished.
    ///
    /// - Parameters:
    ///   - queue: The queue on which the closure is called. The default is the main queue.
    ///   - completion: Called once, after all of these requests have finished and their handlers have been enqueued on their
    ///     queues.
    @preconcurrency
    public func cancelAllRequests(
        completingOnQueue queue: DispatchQueue = .main, completion: (@Sendable () -> Void)? = nil
    ) {
        let requests = state.running
        for request in requests { request.cancel() }
        guard let completion else { return }
        state.whenFinished(requests) { queue.asyncKeepingTransport(completion) }
    }
}

extension Session {
    /// The time, in seconds, that a shutdown waits for the handlers of the requests that it ended.
    private static let closeGracePeriod = 2.0

    /// Shuts the session down gracefully.
    ///
    /// Running requests can finish within the time limit, and new requests fail with ``AFError/sessionInvalidated(error:)``.
    /// WebSockets are closed with ``WebSocketCloseCode/goingAway``. Raw connections continue until the limit. Idle connections
    /// are closed at the beginning and at the end.
    ///
    /// ```swift
    /// await session.shutdown(drainingFor: 20)
    /// ```
    ///
    /// Call this method when a service must stop, for example in `run()` of a `Service`. If the task that awaits this method is
    /// canceled, the limit expires immediately. You can call the method more than once. The shortest limit applies.
    ///
    /// - Parameter limit: The time in which running requests can finish, in seconds. Requests that are still running after this
    ///   time fail with ``AFError/sessionInvalidated(error:)``. The default is 30. With 0, the requests end immediately.
    /// - Returns: A Boolean value that indicates whether all requests finished within the limit.
    @discardableResult
    public func shutdown(drainingFor limit: TimeInterval = 30) async -> Bool {
        state.drain()
        for case let socket as WebSocketRequest in state.running { socket.close(sending: .goingAway) }
        state.stack.transport.closeIdleConnections()
        let finished = Deferred<Bool>()
        state.whenFinished(state.running) { finished.fulfill(true) }
        let timer = finished.fulfill(false, after: .seconds(max(0, min(limit, 1e9))))
        let allFinished = await finished.value(ifCancelled: false)
        timer.cancel()
        let remaining = state.running
        state.end(with: .sessionInvalidated(error: nil))
        let isDone = Deferred<Void>()
        state.whenFinished(remaining) { isDone.fulfill(()) }
        // The wait is limited, because a handler might wait for this method, or a handler's queue might be blocked.
        let lastTimer = isDone.fulfill((), after: .seconds(Self.closeGracePeriod))
        await isDone.value
        lastTimer.cancel()
        state.stack.transport.closeIdleConnections()
        return allFinished
    }

    /// Fails new requests with ``AFError/sessionInvalidated(error:)`` from now on, and invalidates the session after the running
    /// requests have finished. The session is retained until then.
    public func finishRequestsAndInvalidate() {
        state.drain()
        Task { await shutdown(drainingFor: .infinity) }
    }
}

// MARK: - Downloads to a file

extension Session {
    /// Creates a download that is moved to a file.
    ///
    /// When the download is complete, it replaces an existing file and creates missing directories.
    @_disfavoredOverload
    public func download(
        _ convertible: any URLConvertible, method: HTTPMethod = .get, headers: HTTPHeaders? = nil,
        interceptor: (any RequestInterceptor)? = nil, to file: URL
    ) -> DownloadRequest {
        download(
            convertible, method: method, headers: headers, interceptor: interceptor,
            to: DownloadRequest.destination(file))
    }

    /// Creates a download from a value that can be converted to a `URLRequest`. The download is moved to a file.
    ///
    /// When the download is complete, it replaces an existing file and creates missing directories.
    @_disfavoredOverload
    public func download(
        _ convertible: any URLRequestConvertible, interceptor: (any RequestInterceptor)? = nil, to file: URL
    ) -> DownloadRequest {
        download(convertible, interceptor: interceptor, to: DownloadRequest.destination(file))
    }
}

extension Session {
    /// Creates a download that resumes an earlier download from another URL. Use this method if, for example, the earlier URL
    /// was signed and has expired.
    ///
    /// The partial file is used only if the response shows that the new URL has the same file. The response must contain the
    /// same strong validator (`ETag` or `Last-Modified`) and the same length as the earlier response. The host can differ.
    /// Otherwise, the download starts again at the first byte, so the result is always one complete version of the file at the
    /// new URL. See ``download(resumingWith:interceptor:shouldAutomaticallyResume:to:)`` for the other rules.
    ///
    /// The request has the header fields of the earlier request, without credentials. ``DownloadRequest/resumeData`` of this
    /// download contains the new URL.
    ///
    /// - Parameters:
    ///   - data: The value of ``DownloadRequest/resumeData``, possibly from another process. Use it for only one download at a time.
    ///   - url: The new URL of the file.
    ///   - interceptor: Adapts and retries only this request. The default is nil.
    ///   - shouldAutomaticallyResume: Whether the first handler starts the request. The default is nil: the session's
    ///     ``startRequestsImmediately`` applies.
    ///   - destination: Returns the destination of the file. The default is nil: the file stays in its temporary folder.
    public func download(
        resumingWith data: Data, from url: any URLConvertible, interceptor: (any RequestInterceptor)? = nil,
        shouldAutomaticallyResume: Bool? = nil, to destination: DownloadRequest.Destination? = nil
    ) -> DownloadRequest {
        makeDownload(
            .resumeData(data), movedTo: url, interceptor: interceptor,
            shouldAutomaticallyResume: shouldAutomaticallyResume, to: destination)
    }
}

extension DownloadRequest {
    /// Returns a destination that moves the download to a file. It replaces an existing file, and creates missing directories.
    public static func destination(_ file: URL) -> Destination {
        { _, _ in (file, [.removePreviousFile, .createIntermediateDirectories]) }
    }
}

// MARK: - Opening connections in advance

extension Session {
    /// The maximum number of connections that one call opens. The transport's limit is usually lower.
    private static let maximumPreconnections = 1_000

    /// Opens connections to a host before requests need them, and waits until they are open.
    ///
    /// ```swift
    /// try await session.preconnect(to: "https://api.example.com", count: 2)
    /// ```
    ///
    /// TLS handshakes are completed and certificates are evaluated, but no request is sent. Over HTTP/2, one connection serves
    /// all requests, so only one connection is opened. You can call this method repeatedly, because `count` includes
    /// connections that are already open or being opened, and the limit of the host applies. The server, or the transport's
    /// `maximumIdleTime`, can close the connections before they are used. To keep them longer, see
    /// `minimumIdleConnectionsPerHost` of the transport's configuration.
    ///
    /// - Parameters:
    ///   - convertible: A URL of the host. The URL's path isn't used.
    ///   - count: The number of connections that the host should have. The default is 1.
    /// - Throws: The error of the first connection that failed. `AFError.sessionTaskFailed` with a ``TransportError`` if the
    ///   transport can't open connections in advance. Only `HTTPTransport` can. The error is `explicitlyCancelled` if the task
    ///   is canceled, and `sessionInvalidated` if the session is invalidated.
    public func preconnect(to convertible: any URLConvertible, count: Int = 1) async throws {
        if let refusal = state.refusal { throw refusal }
        state.listenForConnectivity()
        let stack = TransportOverride.current?.stack(for: state) ?? state.stack
        var urlRequest = URLRequest(url: try convertible.asURL())
        if let base = configuration.baseURL { urlRequest.resolve(against: base) }
        // Streamed delivery prevents transports that wrap the session's transport from sending a second (hedged) request.
        var exchange = Exchange(
            request: try HTTPRequest(urlRequest, bodyLength: 0), delivery: .stream(), options: try stack.options.get())
        let count = max(0, min(count, Self.maximumPreconnections))
        exchange.options.preconnectionLimit = count
        do {
            try stack.capabilities.check(exchange)
            try await withThrowingTaskGroup(of: Void.self) { [exchange] group in
                for _ in 0..<count { group.addTask { try await stack.open(exchange) } }
                group.addTask { [state] in throw await state.waitForEnd() ?? AFError.explicitlyCancelled }
                for _ in 0..<count { try await group.next() }
                group.cancelAll()
            }
        } catch {
            if Task.isCancelled { throw AFError.explicitlyCancelled }
            throw (error as? TransportError).map(AFError.init) ?? error.asAFError(or: .sessionTaskFailed(error: error))
        }
    }
}

extension TransportStack {
    fileprivate func open(_ exchange: Exchange) async throws {
        let driver = HopDriver(Hop(exchange), through: preconnectionStages, over: sender) { _ in
            (.take(), handlerWork: nil)
        }
        _ = try await withTaskCancellationHandler {
            try await withThrowingTaskGroup(of: Void.self) { works in
                defer { works.cancelAll() }
                return try await driver.response { work in works.addTask { await work() } }
            }
        } onCancel: {
            driver.cancel()
        }
    }
}
