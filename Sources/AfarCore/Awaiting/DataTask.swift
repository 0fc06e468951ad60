/// A handle for awaiting the response of a ``DataRequest``.
///
/// ```swift
/// let text = try await AF.request("https://example.com").serializingString().value
/// ```
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
    ///
    /// Cancelling the awaiting task also cancels the request, unless automatic cancellation is turned off. The response then has
    /// ``AFError/explicitlyCancelled`` as its error.
    nonisolated(nonsending) public var response: AFDataResponse<Value> {
        get async {
            guard shouldAutomaticallyCancel else { return await deferred.value }
            return await withTaskCancellationHandler {
                await deferred.value
            } onCancel: {
                request.cancel()
            }
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
    /// Adds a serializer and returns a handle for awaiting its result. This starts the request, unless requests must be started
    /// explicitly.
    ///
    /// ```swift
    /// let text = try await AF.request("https://example.com").serializing(.text).value
    /// ```
    ///
    /// - Parameters:
    ///   - serializer: Produces the value. Use the factory method of a format.
    ///   - shouldAutomaticallyCancel: Whether cancelling the awaiting task cancels the request. The default is true.
    public func serializing<Serializer: ResponseSerializer>(
        _ serializer: Serializer,
        automaticallyCancelling shouldAutomaticallyCancel: Bool = true
    ) -> DataTask<Serializer.SerializedObject> where Serializer.SerializedObject: Sendable {
        dataTask(automaticallyCancelling: shouldAutomaticallyCancel, serializer.serialize(_:))
    }

    /// Adds a serializer and returns a handle for awaiting its result. This starts the request, unless requests must be started
    /// explicitly.
    ///
    /// - Parameters:
    ///   - serializer: Produces the value.
    ///   - shouldAutomaticallyCancel: Whether cancelling the awaiting task cancels the request. The default is true.
    public func serializingResponse<Serializer: DataResponseSerializerProtocol>(
        using serializer: Serializer,
        automaticallyCancelling shouldAutomaticallyCancel: Bool = true
    ) -> DataTask<Serializer.SerializedObject> where Serializer.SerializedObject: Sendable {
        dataTask(automaticallyCancelling: shouldAutomaticallyCancel, serializer.serialize(_:))
    }

    /// Adds a serializer and returns a handle for awaiting its result. This overload accepts the serializers' factories, as in
    /// `serializingResponse(using: .string)`.
    ///
    /// - Parameters:
    ///   - serializer: Produces the value.
    ///   - shouldAutomaticallyCancel: Whether cancelling the awaiting task cancels the request. The default is true.
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
        addHandler(Self.respond(with: serialize)) { deferred.fulfill($0) }
        return DataTask(request: self, deferred: deferred, shouldAutomaticallyCancel: shouldAutomaticallyCancel)
    }
}
