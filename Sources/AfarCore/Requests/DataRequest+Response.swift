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
        addHandler(
            { input in
                if let error = input.error { throw error }
                return input.data
            }, on: queue, completion: completionHandler)
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
        addHandler(serialize) { response in
            // Handed over, never shared: nobody else has this response.
            nonisolated(unsafe) let response = response
            (queue ?? .main).async { completion(response) }
        }
        return self
    }

    /// The way in for every kind of handler: adds it, and starts the request if that is what handlers do here.
    ///
    /// - Parameters:
    ///   - serialize: Makes the value. What it throws becomes an `AFError`.
    ///   - completion: Called once, when all serializers of this request have run.
    func addHandler<Value>(
        _ serialize: @escaping @Sendable (SerializationInput) throws -> Value,
        completion: @escaping @Sendable (AFDataResponse<Value>) -> Void
    ) {
        let mustDrain = mutable.withLock { state in
            state.handlers.append { request in
                guard let request = request as? DataRequest else { return .init(error: nil, release: { _ in }) }
                // Handed over, never shared: the queue releases it once.
                nonisolated(unsafe) let response = request.makeResponse(serialize)
                return .init(error: response.error) { failure in
                    completion(failure.map(response.failing(with:)) ?? response)
                }
            }
        }
        if mustDrain {
            Task { await RequestPipeline(request: self, context: context).runLateHandlers() }
        } else if shouldAutomaticallyResume ?? context.startRequestsImmediately, isInitialized {
            resume()
        }
    }

    private func makeResponse<Value>(
        _ serialize: (SerializationInput) throws -> Value
    ) -> AFDataResponse<Value> {
        let (error, head, attempt, startTime) = mutable.withLock { state in
            (state.error, state.head, state.attempts.last, state.startTime)
        }
        let input = SerializationInput(request: request, head: head, data: data, error: error)
        let began = Date.timeIntervalSinceReferenceDate
        let result = AFResult<Value> { () throws(AFError) in
            do {
                return try serialize(input)
            } catch {
                throw error.asAFError(
                    or: .responseSerializationFailed(reason: .customSerializationFailed(error: error)))
            }
        }
        let ended = Date.timeIntervalSinceReferenceDate
        let completed = attempt?.end.timeIntervalSinceReferenceDate ?? began
        let timeline = Timeline(
            requestStartTime: startTime,
            initialResponseTime: attempt?.report.transactions.last?.responseStartDate?.timeIntervalSinceReferenceDate
                ?? startTime,
            requestCompletedTime: completed,
            serializationCompletedTime: ended)
        return DataResponse(
            request: input.request, head: head, data: input.data, attempt: attempt, timeline: timeline,
            serializationDuration: ended - began, result: result)
    }
}
