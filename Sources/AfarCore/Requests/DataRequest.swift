public import Foundation

#if canImport(FoundationNetworking)
    package import FoundationNetworking
#endif

/// A request whose response is held in memory.
public class DataRequest: Request, @unchecked Sendable {
    // Sendable because what it adds never changes.

    let memory: MemorySink

    init(
        convertible: any URLRequestConvertible,
        uploadBody: UploadBody? = nil,
        session: SessionState,
        interceptor: (any RequestInterceptor)?,
        shouldAutomaticallyResume: Bool?,
        isPlain: Bool = false
    ) {
        memory = MemorySink()
        super.init(
            convertible: convertible, uploadBody: uploadBody, sink: memory, session: session, interceptor: interceptor,
            shouldAutomaticallyResume: shouldAutomaticallyResume, isPlain: isPlain, countsBytes: uploadBody != nil)
    }

    /// The response's body, once it is there; nil when there was none. When the request broke off or was cancelled, what
    /// had come of it by then; nothing, if it was cancelled by who was asked about the response's head.
    public var data: Data? { memory.data }

    /// Has the body handed to a closure while it arrives, in place of being kept: ``data`` stays nil. Set it before the
    /// request starts. A ``DataStreamRequest`` can do more.
    ///
    /// - Parameter closure: Called for each chunk, in the request's task: the next is read when it returns. Nil keeps the
    ///   body as usual.
    @preconcurrency
    @discardableResult
    public func stream(closure: (@Sendable (Data) -> Void)? = nil) -> Self {
        memory.stream(to: closure)
        return self
    }
}

extension DataRequest {
    /// Adds a handler that gets the response with its bytes as they came.
    ///
    /// - Parameters:
    ///   - queue: Where the handler is called. The default, and nil, mean the main queue: in a program whose main thread
    ///     is blocked it is never called.
    ///   - completionHandler: Called once.
    @preconcurrency
    @discardableResult
    public func response(
        queue: DispatchQueue? = .main,
        completionHandler: @escaping @Sendable (AFDataResponse<Data?>) -> Void
    ) -> Self {
        let respond = Self.respond(telling: { $0.request($1, didParseResponse: $2) }) { input in
            if let error = input.error { throw error }
            return input.data
        }
        addHandler(on: queue, respond, completion: completionHandler)
        return self
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
    public func response<Serializer: DataResponseSerializerProtocol>(
        queue: DispatchQueue? = .main,
        responseSerializer: Serializer,
        completionHandler: @escaping @Sendable (AFDataResponse<Serializer.SerializedObject>) -> Void
    ) -> Self {
        addHandler(responseSerializer.serialize(_:), on: queue, completion: completionHandler)
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
        completionHandler: @escaping @Sendable (AFDataResponse<Serializer.SerializedObject>) -> Void
    ) -> Self {
        addHandler(responseSerializer.serialize(_:), on: queue, completion: completionHandler)
    }

    private func addHandler<Value>(
        _ serialize: @escaping @Sendable (SerializationInput) throws -> Value,
        on queue: DispatchQueue?,
        completion: @escaping @Sendable (AFDataResponse<Value>) -> Void
    ) -> Self {
        addHandler(on: queue, Self.respond(with: serialize), completion: completion)
        return self
    }

    /// Makes a response of what a request has received.
    ///
    /// - Parameters:
    ///   - tell: Notifies the monitors of the response; nil notifies them of one that was serialized.
    ///   - serialize: Makes the value. What it throws becomes an `AFError`.
    static func respond<Value>(
        telling tell: (@Sendable (CompositeEventMonitor, DataRequest, AFDataResponse<Value>) -> Void)? = nil,
        with serialize: @escaping @Sendable (SerializationInput) throws -> Value
    ) -> @Sendable (Request) -> AFDataResponse<Value> {
        { request in
            let dataRequest = request as? DataRequest
            let data = dataRequest?.data
            let (result, details) = request.serialized(data: data) { urlRequest, head, error in
                try serialize(SerializationInput(request: urlRequest, head: head, data: data, error: error))
            }
            let response = DataResponse(result, details)
            if let dataRequest, let events = request.events {
                if let tell {
                    tell(events, dataRequest, response)
                } else {
                    events.request(dataRequest, didSerialize: response)
                }
            }
            return response
        }
    }
}

extension DataRequest {
    /// Puts a request that is not started into the state that it would have after an attempt, for who tests what looks at it.
    package func present(
        _ urlRequest: URLRequest, head: ResponseHead?, data: Data?, retryCount: Int, error: AFError?
    ) {
        mutable.withLock { state in
            state.history.requests = [urlRequest]
            state.attempt.head = head
            state.history.retryCount = retryCount
            state.attempt.failure = error
        }
        memory.data = data
    }
}
