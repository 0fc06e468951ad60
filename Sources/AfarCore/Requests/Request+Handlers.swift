import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension Request {
    /// Adds a handler that is called on a queue; nil means the main queue.
    func addHandler<Response: SettledResponse>(
        on queue: DispatchQueue?,
        _ respond: @escaping @Sendable (Request) -> Response,
        completion: @escaping @Sendable (Response) -> Void
    ) {
        addHandler(respond) { response in
            // The response is passed on, never shared.
            nonisolated(unsafe) let response = response
            (queue ?? .main).asyncKeepingTransport { completion(response) }
        }
    }

    /// Adds a handler of any kind, and starts the request if handlers start requests.
    ///
    /// - Parameters:
    ///   - respond: Creates the response from what the request has received.
    ///   - completion: Called once, after all serializers of this request have run.
    func addHandler<Response: SettledResponse>(
        _ respond: @escaping @Sendable (Request) -> Response,
        completion: @escaping @Sendable (Response) -> Void
    ) {
        let handler = TypedResponseHandler(respond, completion: completion)
        let mustDrain = mutable.withLock { $0.handlers.append(handler) }
        if mustDrain {
            RequestPipeline(self).callLateHandlers()
        } else {
            startIfHandlersDo()
        }
    }

    /// Starts the request if handlers start requests.
    func startIfHandlersDo() {
        if shouldAutomaticallyResume ?? session.startRequestsImmediately, isInitialized { resume() }
    }

    /// Runs a function on a queue, or inline if the queue is nil.
    nonisolated(nonsending) func onQueue<Value, Failure: Error>(
        _ queue: DispatchQueue?, _ work: () throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        guard let queue else { return try work() }
        return try await withTaskExecutorPreference(QueueExecutor(queue)) { () async throws(Failure) in try work() }
    }

    /// Creates a value from what the request has received, and measures the duration.
    ///
    /// - Parameters:
    ///   - data: The received bytes, if they are in memory.
    ///   - serialize: Creates the value. The errors that it throws become `AFError`s.
    func serialized<Value>(
        data: Data? = nil, _ serialize: (URLRequest?, ResponseHead?, AFError?) throws -> Value
    ) -> (AFResult<Value>, ResponseDetails) {
        let (request, error, head, attempt, startTime) = mutable.withLock { state in
            (state.history.requests.last, state.error, state.attempt.head, state.history.attempts.last, state.startTime)
        }
        let began = Date.timeIntervalSinceReferenceDate
        let result = AFResult<Value> { () throws(AFError) in
            do {
                return try serialize(request, head, error)
            } catch {
                throw error.asAFError(
                    or: .responseSerializationFailed(reason: .customSerializationFailed(error: error)))
            }
        }
        let ended = Date.timeIntervalSinceReferenceDate
        let timeline = Timeline(
            requestStartTime: startTime ?? 0,
            initialResponseTime: attempt?.report.transactions.last?.responseStartDate?.timeIntervalSinceReferenceDate
                ?? startTime ?? 0,
            requestCompletedTime: attempt?.end.timeIntervalSinceReferenceDate ?? began,
            serializationCompletedTime: ended)
        let details = ResponseDetails(
            request: request, origin: .network(head, attempt, sensitiveHeaders: session.configuration.sensitiveHeaders),
            data: data, timeline: timeline, serializationDuration: ended - began)
        return (result, details)
    }
}
