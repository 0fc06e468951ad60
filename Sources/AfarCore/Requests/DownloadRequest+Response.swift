public import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension DownloadRequest {
    /// Adds a handler that receives the response with the location of its file.
    ///
    /// - Parameters:
    ///   - queue: The queue on which the handler is called. The default and nil mean the main queue. If the program blocks its
    ///     main thread, the handler is never called.
    ///   - completionHandler: Called once.
    @preconcurrency
    @discardableResult
    public func response(
        queue: DispatchQueue? = .main,
        completionHandler: @escaping @Sendable (AFDownloadResponse<URL?>) -> Void
    ) -> Self {
        let respond = Self.respond(notifying: { $0.request($1, didParseResponse: $2) }) { _, _, fileURL, error in
            if let error { throw error }
            return fileURL
        }
        addHandler(on: queue, respond, completion: completionHandler)
        return self
    }

    /// Adds a handler that receives the location of the file. A response without a file is an error.
    ///
    /// - Parameters:
    ///   - queue: The queue on which the handler is called. The default and nil mean the main queue.
    ///   - completionHandler: Called once.
    @preconcurrency
    @discardableResult
    public func responseURL(
        queue: DispatchQueue? = .main,
        completionHandler: @escaping @Sendable (AFDownloadResponse<URL>) -> Void
    ) -> Self {
        response(queue: queue, responseSerializer: URLResponseSerializer(), completionHandler: completionHandler)
    }

    /// Adds a handler that receives the response with the value from a serializer, as in `.response(.text) { … }`.
    ///
    /// - Parameters:
    ///   - serializer: Creates the value from the file. Use the factory method of a format. It never runs on `queue`.
    ///   - queue: The queue on which the handler is called. The default and nil mean the main queue.
    ///   - completionHandler: Called once.
    @preconcurrency
    @discardableResult
    public func response<Serializer: ResponseSerializer>(
        _ serializer: Serializer,
        queue: DispatchQueue? = .main,
        completionHandler: @escaping @Sendable (AFDownloadResponse<Serializer.SerializedObject>) -> Void
    ) -> Self {
        addHandler(on: queue, Self.respond(using: serializer), completion: completionHandler)
        return self
    }

    /// Adds a handler that receives the response with the value from a serializer.
    ///
    /// - Parameters:
    ///   - queue: The queue on which the handler is called. The default and nil mean the main queue.
    ///   - responseSerializer: Creates the value, on the session's serialization queue if there is one, otherwise in the
    ///     request's task. It never runs on `queue`.
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

    /// Adds a handler that receives the response with the value from a serializer. This overload supports the serializers'
    /// factory methods, as in `.response(responseSerializer: .string) { … }`.
    ///
    /// - Parameters:
    ///   - queue: The queue on which the handler is called. The default and nil mean the main queue.
    ///   - responseSerializer: Creates the value. It never runs on `queue`.
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

    /// Returns a task that provides the location of the file. A response without a file is an error.
    ///
    /// - Parameter shouldAutomaticallyCancel: Whether cancelling the task that awaits the value cancels the request. The
    ///   default is true.
    public func serializingDownloadedFileURL(
        automaticallyCancelling shouldAutomaticallyCancel: Bool = true
    ) -> DownloadTask<URL> {
        serializingDownload(using: URLResponseSerializer(), automaticallyCancelling: shouldAutomaticallyCancel)
    }

    /// Adds a serializer and returns a task that provides its value, as in `serializing(.text)`. The request starts immediately if
    /// handlers start requests.
    ///
    /// - Parameters:
    ///   - serializer: Creates the value from the file. Use the factory method of a format.
    ///   - shouldAutomaticallyCancel: Whether cancelling the task that awaits the value cancels the request. The default is
    ///     true.
    public func serializing<Serializer: ResponseSerializer>(
        _ serializer: Serializer,
        automaticallyCancelling shouldAutomaticallyCancel: Bool = true
    ) -> DownloadTask<Serializer.SerializedObject> where Serializer.SerializedObject: Sendable {
        downloadTask(automaticallyCancelling: shouldAutomaticallyCancel, Self.respond(using: serializer))
    }

    /// Adds a serializer and returns a task that provides its value. The request starts immediately if handlers start requests.
    ///
    /// - Parameters:
    ///   - serializer: Creates the value.
    ///   - shouldAutomaticallyCancel: Whether cancelling the task that awaits the value cancels the request. The default is
    ///     true.
    public func serializingDownload<Serializer: DownloadResponseSerializerProtocol>(
        using serializer: Serializer,
        automaticallyCancelling shouldAutomaticallyCancel: Bool = true
    ) -> DownloadTask<Serializer.SerializedObject> where Serializer.SerializedObject: Sendable {
        downloadTask(automaticallyCancelling: shouldAutomaticallyCancel, Self.respond(using: serializer))
    }

    /// Adds a serializer and returns a task that provides its value. This overload supports the serializers' factory methods,
    /// as in `serializingDownload(using: .string)`.
    ///
    /// - Parameters:
    ///   - serializer: Creates the value.
    ///   - shouldAutomaticallyCancel: Whether cancelling the task that awaits the value cancels the request. The default is
    ///     true.
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
        addHandler(respond) { deferred.fulfill($0) }
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
    ///   - notify: Notifies the monitors of the response. With nil, they are notified of a serialized response.
    ///   - serialize: Creates the value. The errors that it throws become `AFError`s.
    private static func respond<Value>(
        notifying notify: (@Sendable (CompositeEventMonitor, DownloadRequest, AFDownloadResponse<Value>) -> Void)? =
            nil,
        with serialize: @escaping @Sendable (URLRequest?, ResponseHead?, URL?, AFError?) throws -> Value
    ) -> @Sendable (Request) -> AFDownloadResponse<Value> {
        { request in
            let download = request as? DownloadRequest
            let (result, details) = request.serialized { try serialize($0, $1, download?.fileURL, $2) }
            let response = DownloadResponse(result, details, of: download?.files ?? DownloadFiles())
            if let download, let events = request.events {
                if let notify {
                    notify(events, download, response)
                } else {
                    events.request(download, didSerialize: response)
                }
            }
            return response
        }
    }
}
