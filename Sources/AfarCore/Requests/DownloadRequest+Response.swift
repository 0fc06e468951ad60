public import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension DownloadRequest {
    /// Adds a handler that gets the response with the place of its file.
    ///
    /// - Parameters:
    ///   - queue: Where the handler is called. The default, and nil, mean the main queue: in a program whose main thread
    ///     is blocked it is never called.
    ///   - completionHandler: Called once.
    @preconcurrency
    @discardableResult
    public func response(
        queue: DispatchQueue? = .main,
        completionHandler: @escaping @Sendable (AFDownloadResponse<URL?>) -> Void
    ) -> Self {
        let respond = Self.respond(telling: { $0.request($1, didParseResponse: $2) }) { _, _, fileURL, error in
            if let error { throw error }
            return fileURL
        }
        addHandler(on: queue, respond, completion: completionHandler)
        return self
    }

    /// Adds a handler that gets the place of the file; a response without one is an error.
    ///
    /// - Parameters:
    ///   - queue: Where the handler is called. The default, and nil, mean the main queue.
    ///   - completionHandler: Called once.
    @preconcurrency
    @discardableResult
    public func responseURL(
        queue: DispatchQueue? = .main,
        completionHandler: @escaping @Sendable (AFDownloadResponse<URL>) -> Void
    ) -> Self {
        response(queue: queue, responseSerializer: URLResponseSerializer(), completionHandler: completionHandler)
    }

    /// Adds a handler that gets the response as a serializer sees it.
    ///
    /// - Parameters:
    ///   - queue: Where the handler is called. The default, and nil, mean the main queue.
    ///   - responseSerializer: Runs before, on the session's serialization queue if it has one, else in the request's
    ///     task; never on `queue`.
    ///   - completionHandler: Called once.
    @preconcurrency
    @discardableResult
    public func response<Serializer: DownloadResponseSerializerProtocol>(
        queue: DispatchQueue? = .main,
        responseSerializer: Serializer,
        completionHandler: @escaping @Sendable (AFDownloadResponse<Serializer.SerializedObject>) -> Void
    ) -> Self {
        addHandler(on: queue, Self.respond(using: responseSerializer), completion: completionHandler)
        return self
    }

    /// Adds a handler that gets the response as a serializer sees it; this form knows the serializers' factories, as in
    /// `.response(responseSerializer: .string) { … }`.
    ///
    /// - Parameters:
    ///   - queue: Where the handler is called. The default, and nil, mean the main queue.
    ///   - responseSerializer: Runs before, never on `queue`.
    ///   - completionHandler: Called once.
    @preconcurrency
    @discardableResult
    public func response<Serializer: ResponseSerializer>(
        queue: DispatchQueue? = .main,
        responseSerializer: Serializer,
        completionHandler: @escaping @Sendable (AFDownloadResponse<Serializer.SerializedObject>) -> Void
    ) -> Self {
        addHandler(on: queue, Self.respond(using: responseSerializer), completion: completionHandler)
        return self
    }

    /// The place of the file, awaited; a response without one is an error.
    ///
    /// - Parameter shouldAutomaticallyCancel: Whether cancelling the waiting task cancels the request. The default is
    ///   true.
    public func serializingDownloadedFileURL(
        automaticallyCancelling shouldAutomaticallyCancel: Bool = true
    ) -> DownloadTask<URL> {
        serializingDownload(using: URLResponseSerializer(), automaticallyCancelling: shouldAutomaticallyCancel)
    }

    /// Adds a serializer whose result is awaited. The request starts at once if handlers start requests here.
    ///
    /// - Parameters:
    ///   - serializer: Makes the value.
    ///   - shouldAutomaticallyCancel: Whether cancelling the waiting task cancels the request. The default is true.
    public func serializingDownload<Serializer: DownloadResponseSerializerProtocol>(
        using serializer: Serializer,
        automaticallyCancelling shouldAutomaticallyCancel: Bool = true
    ) -> DownloadTask<Serializer.SerializedObject> where Serializer.SerializedObject: Sendable {
        downloadTask(automaticallyCancelling: shouldAutomaticallyCancel, Self.respond(using: serializer))
    }

    /// Adds a serializer whose result is awaited; this form knows the serializers' factories, as in
    /// `serializingDownload(using: .string)`.
    ///
    /// - Parameters:
    ///   - serializer: Makes the value.
    ///   - shouldAutomaticallyCancel: Whether cancelling the waiting task cancels the request. The default is true.
    public func serializingDownload<Serializer: ResponseSerializer>(
        using serializer: Serializer,
        automaticallyCancelling shouldAutomaticallyCancel: Bool = true
    ) -> DownloadTask<Serializer.SerializedObject> where Serializer.SerializedObject: Sendable {
        downloadTask(automaticallyCancelling: shouldAutomaticallyCancel, Self.respond(using: serializer))
    }

    private func downloadTask<Value: Sendable>(
        automaticallyCancelling shouldAutomaticallyCancel: Bool,
        _ respond: @escaping @Sendable (Request) -> AFDownloadResponse<Value>
    ) -> DownloadTask<Value> {
        let deferred = Deferred<AFDownloadResponse<Value>>()
        addHandler(respond) { deferred.fulfil($0) }
        return DownloadTask(request: self, deferred: deferred, shouldAutomaticallyCancel: shouldAutomaticallyCancel)
    }

    private static func respond<Serializer: DownloadResponseSerializerProtocol>(
        using serializer: Serializer
    ) -> @Sendable (Request) -> AFDownloadResponse<Serializer.SerializedObject> {
        respond { request, head, fileURL, error in
            try serializer.serializeDownload(
                request: request, response: head?.httpURLResponse, fileURL: fileURL, error: error)
        }
    }

    /// - Parameters:
    ///   - tell: Notifies the monitors of the response; nil notifies them of one that was serialized.
    ///   - serialize: Makes the value. What it throws becomes an `AFError`.
    private static func respond<Value>(
        telling tell: (@Sendable (CompositeEventMonitor, DownloadRequest, AFDownloadResponse<Value>) -> Void)? = nil,
        with serialize: @escaping @Sendable (URLRequest?, ResponseHead?, URL?, AFError?) throws -> Value
    ) -> @Sendable (Request) -> AFDownloadResponse<Value> {
        { request in
            let download = request as? DownloadRequest
            let (result, details) = request.serialized { try serialize($0, $1, download?.fileURL, $2) }
            let response = DownloadResponse(result, details, of: download?.files ?? DownloadFiles())
            if let download, let events = request.events {
                if let tell {
                    tell(events, download, response)
                } else {
                    events.request(download, didSerialize: response)
                }
            }
            return response
        }
    }
}
