public import AfarCore
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension Session {
    /// Replaces the transport of all sessions for the requests that a closure makes.
    ///
    /// This includes requests in child tasks and unstructured tasks that the closure starts. It also includes requests
    /// in the completion handlers of the closure's requests.
    ///
    /// ```swift
    /// let mock = MockTransport(stubs: [Stub(.get, "/users/{id}", .json(["name": "Ada"]))])
    /// let name = try await Session.withTransport(mock) { try await userName(7) }  // calls AF.request(…)
    /// ```
    ///
    /// The code under test doesn't change: `AF` and custom sessions keep their configuration, interceptors, monitors
    /// and stages. Cookies, cached responses and HSTS hosts are separate and initially empty, so concurrent code isn't
    /// affected. Proxies and other network settings are ignored if the transport doesn't use the network.
    ///
    /// Detached tasks and blocks that the code submits to a dispatch queue aren't affected.
    ///
    /// - Parameters:
    ///   - transport: The transport for all requests.
    ///   - isolation: The actor on which the operation runs. The default is the caller's actor.
    ///   - operation: The closure that makes the requests.
    public static func withTransport<Value>(
        _ transport: any Transport, isolation: isolated (any Actor)? = #isolation,
        operation: () async throws -> Value
    ) async rethrows -> Value {
        try await replacingTransports(by: { _ in transport }, operation: operation)
    }

    /// Replaces the transport of all sessions for the requests that a synchronous closure makes.
    public static func withTransport<Value>(
        _ transport: any Transport, operation: () throws -> Value
    ) rethrows -> Value {
        try replacingTransports(by: { _ in transport }, operation: operation)
    }

    /// Creates a request in the same state as after an attempt to send it. The request is never actually sent. Use this method to
    /// test interceptors.
    ///
    /// ```swift
    /// let request = session.makeRequest("https://api.example.com/", response: .status(503), retryCount: 2)
    /// retrier.retry(request, for: session, dueTo: error) { result in … }
    /// ```
    ///
    /// - Parameters:
    ///   - convertible: The value that creates the `URLRequest`.
    ///   - response: The response to the attempt, or `nil` if none was received. Only its status, fields and body are
    ///     used.
    ///   - retryCount: The number of retries. The default is 0.
    ///   - error: The error of the attempt. The default is `nil`.
    /// - Throws: The error of `convertible` if it can't create a `URLRequest`.
    public func makeRequest(
        _ convertible: any URLRequestConvertible, response: MockResponse? = nil, retryCount: Int = 0,
        error: AFError? = nil
    ) throws -> DataRequest {
        let urlRequest = try convertible.asURLRequest()
        let request = self.request(convertible, shouldAutomaticallyResume: false)
        request.simulateAttempt(
            urlRequest,
            head: response.map {
                ResponseHead(status: $0.status, fields: $0.fields, url: urlRequest.url?.absoluteString ?? "")
            },
            data: response?.body, retryCount: retryCount, error: error)
        return request
    }

    /// Creates a request in the same state as after an attempt to send it. The request is never actually sent.
    public func makeRequest(
        _ url: any URLConvertible, response: MockResponse? = nil, retryCount: Int = 0, error: AFError? = nil
    ) throws -> DataRequest {
        try makeRequest(
            URLRequest(url: url.asURL()), response: response, retryCount: retryCount, error: error)
    }
}
