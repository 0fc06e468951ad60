public import Foundation

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
