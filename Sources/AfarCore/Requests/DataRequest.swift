public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// A request whose response is held in memory.
public class DataRequest: Request, @unchecked Sendable {
    // Sendable: adds only constants.

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

    /// The response's body, or nil if it hasn't arrived or the response has none.
    ///
    /// If the request failed or was canceled, the value is the part that had arrived. If a handler canceled the request when
    /// the response's head arrived, the value is nil.
    public var data: Data? { memory.data }

    /// Passes each chunk of the body to a closure instead of storing the body. ``data`` stays nil. Call this method before the
    /// request starts. A ``DataStreamRequest`` has more features.
    ///
    /// - Parameter closure: Called for each chunk, in the request's task. The next chunk is read after the closure returns. The
    ///   default is nil, which stores the body.
    @preconcurrency
    @discardableResult
    public func stream(closure: (@Sendable (Data) -> Void)? = nil) -> Self {
        memory.stream(to: closure)
        return self
    }
}

extension DataRequest {
    /// Adds a handler that receives the response with its unserialized bytes.
    ///
    /// - Parameters:
    ///   - queue: The queue on which the handler is called. Nil means the main queue, which is the default. If the program blocks
    ///     its main thread, the handler is never called.
    ///   - completionHandler: Called once.
    @preconcurrency
    @discardableResult
    public func response(
        queue: DispatchQueue? = .main,
        completionHandler: @escaping @Sendable (AFDataResponse<Data?>) -> Void
    ) -> Self {
        let makeResponse = Self.makeResponse(reporting: RequestEvent.ParsedValue.init(_:unserialized:)) { input in
            if let error = input.error { throw error }
            return input.data
        }
        addHandler(on: queue, makeResponse, completion: completionHandler)
        return self
    }

    /// Adds a handler that receives the response with the value from a serializer, as in `.response(.text) { … }`.
    ///
    /// The serializer runs on the session's serialization queue if there is one, otherwise in the request's task. It never runs
    /// on `queue`. See ``response(queue:completionHandler:)`` for `queue`.
    @preconcurrency
    @discardableResult
    public func response<Serializer: ResponseSerializer>(
        _ serializer: Serializer,
        queue: DispatchQueue? = .main,
        completionHandler: @escaping @Sendable (AFDataResponse<Serializer.SerializedObject>) -> Void
    ) -> Self {
        addHandler(serializer.serialize(_:), on: queue, completion: completionHandler)
    }

    /// Adds a handler that receives the response with the value from a serializer.
    @preconcurrency
    @discardableResult
    public func response<Serializer: DataResponseSerializerProtocol>(
        queue: DispatchQueue? = .main,
        responseSerializer: Serializer,
        completionHandler: @escaping @Sendable (AFDataResponse<Serializer.SerializedObject>) -> Void
    ) -> Self {
        addHandler(responseSerializer.serialize(_:), on: queue, completion: completionHandler)
    }

    /// Adds a handler that receives the response with the value from a serializer. This overload supports the serializers'
    /// factory methods, as in `.response(responseSerializer: .string) { … }`.
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
        addHandler(on: queue, Self.makeResponse(with: serialize), completion: completion)
        return self
    }

    /// Returns a function that creates a response from the data of a request.
    static func makeResponse<Value>(
        reporting parsedValue: (@Sendable (DataRequest, AFDataResponse<Value>) -> RequestEvent.ParsedValue)? = nil,
        with serialize: @escaping @Sendable (SerializationInput) throws -> Value
    ) -> @Sendable (Request) -> AFDataResponse<Value> {
        { request in
            let dataRequest = request as? DataRequest
            let data = dataRequest?.data
            let (result, details) = request.serialized(data: data) { urlRequest, head, error in
                try request.withSessionDecoder {
                    try serialize(SerializationInput(request: urlRequest, head: head, data: data, error: error))
                }
            }
            let response = DataResponse(result, details)
            request.notify(DataRequest.self) {
                .requestDidParse(request, parsedValue?($0, response) ?? .init($0, response))
            }
            return response
        }
    }
}

extension DataRequest {
    /// Simulates an attempt of a request that hasn't started, for tests of interceptors and event monitors. Afterward, the
    /// request's state is the same as after a real attempt.
    public func simulateAttempt(
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
