public import AfarCore
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension Session {
    /// Puts a transport in the place of every session's, for all requests that are made in a closure: in its task, in the
    /// tasks that it starts, and in those requests' completion handlers.
    ///
    /// ```swift
    /// let mock = MockTransport(stubs: [Stub(.get, "/users/{id}", .json(["name": "Ada"]))])
    /// let name = try await Session.withTransport(mock) { try await userName(7) }  // calls AF.request(…)
    /// ```
    ///
    /// Code under test needs no change: `AF` and sessions of its own keep their configuration, interceptors, monitors and
    /// stages. Their cookies, cached responses and hosts that want https are apart, empty at first, so that what runs beside
    /// notices nothing. Proxies and other settings for the network are left out where the transport has no network.
    ///
    /// It holds for Swift's tasks but not for detached ones, nor for what the code puts into a dispatch queue by itself.
    ///
    /// - Parameters:
    ///   - transport: What all requests go to.
    ///   - isolation: Where the operation runs. The default is the caller's actor.
    ///   - operation: What makes the requests.
    public static func withTransport<Value>(
        _ transport: any Transport, isolation: isolated (any Actor)? = #isolation,
        operation: () async throws -> Value
    ) async rethrows -> Value {
        try await replacingTransports(by: { _ in transport }, operation: operation)
    }

    /// The same for a closure that does not wait.
    public static func withTransport<Value>(
        _ transport: any Transport, operation: () throws -> Value
    ) rethrows -> Value {
        try replacingTransports(by: { _ in transport }, operation: operation)
    }

    /// A request that is never sent, in the state it would have after an attempt, for tests of interceptors.
    ///
    /// ```swift
    /// let request = session.makeRequest("https://api.example.com/", response: .status(503), retryCount: 2)
    /// retrier.retry(request, for: session, dueTo: error) { result in … }
    /// ```
    ///
    /// - Parameters:
    ///   - convertible: What its `request` is made of.
    ///   - response: What it got; nil when it got none. Only its status, its fields and its body count.
    ///   - retryCount: How often it was sent again. The default is 0.
    ///   - error: Why the attempt failed. The default is nil.
    /// - Throws: What making the `URLRequest` throws.
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

    /// The same for a URL.
    public func makeRequest(
        _ url: any URLConvertible, response: MockResponse? = nil, retryCount: Int = 0, error: AFError? = nil
    ) throws -> DataRequest {
        try makeRequest(
            URLRequest(url: url.asURL()), response: response, retryCount: retryCount, error: error)
    }
}
