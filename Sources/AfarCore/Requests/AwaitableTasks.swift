public import Foundation

// MARK: - Responses

/// A handle for awaiting the response of a ``DataRequest``.
///
/// ```swift
/// let text = try await AF.request("https://example.com").serializingString().value
/// ```
///
/// Canceling the awaiting task also cancels the request, unless you created the handle with `automaticallyCancelling: false`.
/// The response of a canceled request has ``AFError/explicitlyCancelled`` as its error.
public struct DataTask<Value: Sendable>: Sendable {
    private let request: DataRequest
    private let deferred: Deferred<AFDataResponse<Value>>
    private let shouldAutomaticallyCancel: Bool

    init(request: DataRequest, deferred: Deferred<AFDataResponse<Value>>, shouldAutomaticallyCancel: Bool) {
        self.request = request
        self.deferred = deferred
        self.shouldAutomaticallyCancel = shouldAutomaticallyCancel
    }

    /// The response. You can await it several times.
    nonisolated(nonsending) public var response: AFDataResponse<Value> {
        get async {
            guard shouldAutomaticallyCancel else { return await deferred.value }
            return await deferred.value(onCancel: { request.cancel() })
        }
    }

    /// The result of the response: the value or the error.
    nonisolated(nonsending) public var result: AFResult<Value> {
        get async { await response.result }
    }

    /// The value of the response.
    ///
    /// - Throws: The ``AFError`` that ended the request.
    nonisolated(nonsending) public var value: Value {
        get async throws { try await response.result.get() }
    }

    /// Cancels the request.
    public func cancel() { request.cancel() }
    /// Resumes the request.
    public func resume() { request.resume() }
    /// Suspends the request.
    public func suspend() { request.suspend() }
}

extension DataRequest {
    /// Adds a serializer and returns a handle for awaiting its result. This starts the request, unless automatic starting is
    /// turned off.
    ///
    /// ```swift
    /// let text = try await AF.request("https://example.com").serializing(.text).value
    /// ```
    public func serializing<Serializer: ResponseSerializer>(
        _ serializer: Serializer,
        automaticallyCancelling shouldAutomaticallyCancel: Bool = true
    ) -> DataTask<Serializer.SerializedObject> where Serializer.SerializedObject: Sendable {
        dataTask(automaticallyCancelling: shouldAutomaticallyCancel, serializer.serialize(_:))
    }

    /// Adds a serializer and returns a handle for awaiting its result, like ``serializing(_:automaticallyCancelling:)``.
    public func serializingResponse<Serializer: DataResponseSerializerProtocol>(
        using serializer: Serializer,
        automaticallyCancelling shouldAutomaticallyCancel: Bool = true
    ) -> DataTask<Serializer.SerializedObject> where Serializer.SerializedObject: Sendable {
        dataTask(automaticallyCancelling: shouldAutomaticallyCancel, serializer.serialize(_:))
    }

    /// Adds a serializer and returns a handle for awaiting its result. This overload accepts the serializers' factories, as in
    /// `serializingResponse(using: .string)`.
    public func serializingResponse<Serializer: ResponseSerializer>(
        using serializer: Serializer,
        automaticallyCancelling shouldAutomaticallyCancel: Bool = true
    ) -> DataTask<Serializer.SerializedObject> where Serializer.SerializedObject: Sendable {
        dataTask(automaticallyCancelling: shouldAutomaticallyCancel, serializer.serialize(_:))
    }

    private func dataTask<Value: Sendable>(
        automaticallyCancelling shouldAutomaticallyCancel: Bool,
        _ serialize: @escaping @Sendable (SerializationInput) throws -> Value
    ) -> DataTask<Value> {
        let deferred = Deferred<AFDataResponse<Value>>()
        mutable.withLock { $0.inlineRunner = deferred }
        addHandler(Self.makeResponse(with: serialize)) { deferred.fulfill($0) }
        return DataTask(request: self, deferred: deferred, shouldAutomaticallyCancel: shouldAutomaticallyCancel)
    }
}

// MARK: - Downloads

/// A handle for awaiting the response of a ``DownloadRequest``.
///
/// ```swift
/// let file = try await AF.download("https://example.com/map.png").serializingDownloadedFileURL().value
/// ```
///
/// Canceling the awaiting task also cancels the request, unless you created the handle with `automaticallyCancelling: false`.
/// The response of a canceled request has ``AFError/explicitlyCancelled`` as its error.
public struct DownloadTask<Value: Sendable>: Sendable {
    private let request: DownloadRequest
    private let deferred: Deferred<AFDownloadResponse<Value>>
    private let shouldAutomaticallyCancel: Bool

    init(request: DownloadRequest, deferred: Deferred<AFDownloadResponse<Value>>, shouldAutomaticallyCancel: Bool) {
        self.request = request
        self.deferred = deferred
        self.shouldAutomaticallyCancel = shouldAutomaticallyCancel
    }

    /// The response. You can await it several times.
    nonisolated(nonsending) public var response: AFDownloadResponse<Value> {
        get async {
            guard shouldAutomaticallyCancel else { return await deferred.value }
            return await deferred.value(onCancel: { request.cancel() })
        }
    }

    /// The result of the response: the value or the error.
    nonisolated(nonsending) public var result: AFResult<Value> {
        get async { await response.result }
    }

    /// The value of the response.
    ///
    /// - Throws: The ``AFError`` that ended the request.
    nonisolated(nonsending) public var value: Value {
        get async throws { try await response.result.get() }
    }

    /// Cancels the request.
    public func cancel() { request.cancel() }
    /// Resumes the request.
    public func resume() { request.resume() }
    /// Suspends the request.
    public func suspend() { request.suspend() }
}

// MARK: - Streams

/// A handle for reading the chunks of a ``DataStreamRequest`` with `for await`.
///
/// ```swift
/// for await stream in AF.streamRequest("https://example.com/feed").streamTask().streamingData() {
///     switch stream.event {
///     case .stream(let result): use(result)
///     case .complete(let completion): print(completion.error ?? "whole")
///     }
/// }
/// ```
///
/// Iterating starts the request, unless automatic starting is turned off. Leaving the loop early or canceling its task cancels
/// the request, unless `automaticallyCancelling` is false.
///
/// The last element of each sequence is the completion. By default, `bufferingPolicy` is nil, and the next chunk is read when
/// the loop requests it. A slow loop then slows the server down if the transport supports backpressure. With a buffering
/// policy, chunks are buffered as the policy specifies.
public struct DataStreamTask: Sendable {
    /// A sequence of the events of a stream.
    public typealias Stream<Success: Sendable, Failure: Error> = StreamOf<DataStreamRequest.Stream<Success, Failure>>

    package let request: DataStreamRequest

    init(request: DataStreamRequest) { self.request = request }

    /// Returns a sequence of the chunks as they arrive.
    public func streamingData(
        automaticallyCancelling shouldAutomaticallyCancel: Bool = true,
        bufferingPolicy: Stream<Data, Never>.BufferingPolicy? = nil
    ) -> Stream<Data, Never> {
        stream(automaticallyCancelling: shouldAutomaticallyCancel, bufferingPolicy: bufferingPolicy) {
            .plain
        }
    }

    /// Returns a sequence with one value per chunk. The serializer converts each chunk separately.
    public func streamingResponses<Serializer: DataStreamSerializer>(
        serializedUsing serializer: Serializer,
        automaticallyCancelling shouldAutomaticallyCancel: Bool = true,
        bufferingPolicy: Stream<Serializer.SerializedObject, AFError>.BufferingPolicy? = nil
    ) -> Stream<Serializer.SerializedObject, AFError> {
        stream(automaticallyCancelling: shouldAutomaticallyCancel, bufferingPolicy: bufferingPolicy) {
            DataStreamRequest.Parser(serializer)
        }
    }

    /// Returns a sequence of the values that a parser reads from the body. A value can span several chunks. A new copy of the
    /// parser parses each body.
    public func streamingResponses<Parser: DataStreamParser>(
        parsedUsing parser: Parser,
        automaticallyCancelling shouldAutomaticallyCancel: Bool = true,
        bufferingPolicy: Stream<Parser.Value, AFError>.BufferingPolicy? = nil
    ) -> Stream<Parser.Value, AFError> {
        stream(automaticallyCancelling: shouldAutomaticallyCancel, bufferingPolicy: bufferingPolicy) {
            DataStreamRequest.Parser(parser)
        }
    }

    /// - Parameter makeParser: Called at the start of each iteration.
    package func stream<Success: Sendable, Failure: Error>(
        automaticallyCancelling shouldAutomaticallyCancel: Bool,
        bufferingPolicy: Stream<Success, Failure>.BufferingPolicy?,
        _ makeParser: @escaping @Sendable () -> DataStreamRequest.Parser<Success, Failure>
    ) -> Stream<Success, Failure> {
        let onTermination: @Sendable () -> Void = { [request] in
            if shouldAutomaticallyCancel { request.cancel() }
        }
        guard let bufferingPolicy else {
            return Stream(onTermination: onTermination) { [request] handoff in
                request.addListener(makeParser(), each: { await handoff.send($1) }, last: { handoff.finish(with: $0) })
            }
        }
        return Stream(bufferingPolicy: bufferingPolicy, onTermination: onTermination) { [request] continuation in
            request.addListener(makeParser(), each: { continuation.yield($1) }) { last in
                for stream in last { continuation.yield(stream) }
                continuation.finish()
            }
        }
    }

    /// Cancels the request.
    public func cancel() { request.cancel() }
    /// Resumes the request.
    public func resume() { request.resume() }
    /// Suspends the request.
    public func suspend() { request.suspend() }
}

extension DataStreamRequest {
    /// Returns a sequence of the values that a parser reads from the body. A value can span several chunks. See
    /// ``DataStreamTask``.
    ///
    /// ```swift
    /// for await stream in AF.streamRequest("https://example.com/feed").serializing(.jsonLines(of: Entry.self)) {
    ///     if let entry = stream.value { use(entry) }
    /// }
    /// ```
    public func serializing<Parser: DataStreamParser>(
        _ parser: Parser,
        automaticallyCancelling shouldAutomaticallyCancel: Bool = true,
        bufferingPolicy: DataStreamTask.Stream<Parser.Value, AFError>.BufferingPolicy? = nil
    ) -> DataStreamTask.Stream<Parser.Value, AFError> {
        streamTask().streamingResponses(
            parsedUsing: parser, automaticallyCancelling: shouldAutomaticallyCancel, bufferingPolicy: bufferingPolicy)
    }

    /// Returns a handle for reading the request's chunks with `for await`.
    public func streamTask() -> DataStreamTask { DataStreamTask(request: self) }
}
