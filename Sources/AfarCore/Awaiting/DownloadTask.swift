/// A handle for awaiting the response of a ``DownloadRequest``.
///
/// ```swift
/// let file = try await AF.download("https://example.com/map.png").serializingDownloadedFileURL().value
/// ```
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
    ///
    /// Cancelling the awaiting task also cancels the request, unless automatic cancellation is turned off. The response then has
    /// ``AFError/explicitlyCancelled`` as its error.
    nonisolated(nonsending) public var response: AFDownloadResponse<Value> {
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
