import AfarTesting
import Foundation
import HTTPTypes
import Testing

@testable import AfarCore

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite struct RetryPolicyTests {
    // MARK: Delays

    @Test func theDelaysGrowExactlyByTheBase() async {
        #expect(await delays(of: RetryPolicy()) == [0.5, 1])
        #expect(await delays(of: RetryPolicy(retryLimit: 4)) == [0.5, 1, 2, 4])
        #expect(
            await delays(of: RetryPolicy(retryLimit: 3, exponentialBackoffBase: 3, exponentialBackoffScale: 0.1))
                == [0.1, 3 * 0.1, 9 * 0.1])
        #expect(await delays(of: RetryPolicy(retryLimit: 0)) == [])
    }

    @Test func aBaseBelowTwoIsRaisedToTwo() async {
        let policy = RetryPolicy(exponentialBackoffBase: 0)
        #expect(policy.exponentialBackoffBase == 2)
        #expect(await delays(of: policy) == [0.5, 1])
    }

    @Test func jitterIsAppliedToTheDelay() async {
        #expect(await delays(of: RetryPolicy(retryLimit: 3, jitter: .init { $0 / 4 })) == [0.125, 0.25, 0.5])
        #expect(await delays(of: RetryPolicy(jitter: .none)) == [0.5, 1])
    }

    /// A subclass that overrides only Alamofire's initializer.
    private final class Insisting: RetryPolicy, @unchecked Sendable {
        override init(
            retryLimit: UInt = 3,
            exponentialBackoffBase: UInt = RetryPolicy.defaultExponentialBackoffBase,
            exponentialBackoffScale: Double = RetryPolicy.defaultExponentialBackoffScale,
            retryableHTTPMethods: Set<HTTPMethod> = RetryPolicy.defaultRetryableHTTPMethods,
            retryableHTTPStatusCodes: Set<Int> = RetryPolicy.defaultRetryableHTTPStatusCodes,
            retryableURLErrorCodes: Set<URLError.Code> = RetryPolicy.defaultRetryableURLErrorCodes
        ) {
            super.init(
                retryLimit: retryLimit, exponentialBackoffBase: exponentialBackoffBase,
                exponentialBackoffScale: exponentialBackoffScale * 2, retryableHTTPMethods: retryableHTTPMethods,
                retryableHTTPStatusCodes: retryableHTTPStatusCodes.union([418]),
                retryableURLErrorCodes: retryableURLErrorCodes)
        }
    }

    @Test func anOverriddenInitializerIsUsedByAllOthers() async {
        #expect(await delays(of: Insisting()) == [1, 2, 4])
        let jittering = Insisting(jitter: .init { $0 / 4 }, maximumRetryAfter: 5)
        #expect(await delays(of: jittering) == [0.25, 0.5])
        #expect(jittering.retryableHTTPStatusCodes == RetryPolicy.defaultRetryableHTTPStatusCodes.union([418, 429]))
        #expect(jittering.maximumRetryAfter == 5)
    }

    @Test func fullJitterIsRandomUpToTheDelay() {
        let delays = (0..<1000).map { _ in RetryPolicy.Jitter.full.vary(8) }
        #expect(delays.allSatisfy { (0...8).contains($0) })
        // The probability that 1,000 uniform values miss a quarter is about 10⁻¹²⁴.
        for quarter in 0..<4 {
            let start = Double(quarter) * 2
            #expect(delays.contains { (start..<(start + 2)).contains($0) })
        }
    }

    @Test(arguments: [-1, Double.nan, -Double.infinity, 0, Double.infinity, Double.greatestFiniteMagnitude])
    func fullJitterAcceptsAnyDelay(delay: Double) {
        #expect(RetryPolicy.Jitter.full.vary(delay) >= 0)
    }

    // MARK: Retried requests

    @Test(arguments: ["DELETE", "GET", "HEAD", "OPTIONS", "PUT", "TRACE"])
    func idempotentMethodsAreRetried(method: String) async {
        #expect(await delays(of: RetryPolicy(), method: HTTPMethod(rawValue: method)).count == 2)
    }

    @Test(arguments: ["POST", "PATCH", "CONNECT", "QUERY"])
    func otherMethodsAreNotRetried(method: String) async {
        #expect(await delays(of: RetryPolicy(), method: HTTPMethod(rawValue: method)) == [])
        let policy = RetryPolicy(retryableHTTPMethods: [HTTPMethod(rawValue: method)])
        #expect(await delays(of: policy, method: HTTPMethod(rawValue: method)).count == 2)
    }

    @Test(arguments: 400..<600)
    func transientStatusesAreRetried(status: Int) async {
        let isRetried = [408, 500, 502, 503, 504].contains(status)
        #expect(await delays(of: RetryPolicy()) { .status(status) }.count == (isRetried ? 2 : 0))
    }

    @Test func customStatusCodesReplaceTheDefaults() async {
        let policy = RetryPolicy(retryableHTTPStatusCodes: [418])
        #expect(await delays(of: policy) { .status(418) }.count == 2)
        #expect(await delays(of: policy) { .status(503) }.isEmpty)
    }

    @Test(arguments: [TransportError.Code.timedOut, .cannotFindHost, .cannotConnect, .notConnected, .connectionLost])
    func transientNetworkErrorsAreRetried(code: TransportError.Code) async {
        #expect(await delays(of: RetryPolicy()) { .failure(code) } == [0.5, 1])
    }

    @Test(arguments: [
        TransportError.Code.invalidURL, .unsupportedURL, .certificateUntrusted, .responseTooLarge, .undecodableContent,
        .refusedByPolicy,
    ])
    func otherNetworkErrorsAreNotRetried(code: TransportError.Code) async {
        #expect(await delays(of: RetryPolicy()) { .failure(code) } == [])
    }

    @Test func customErrorCodesReplaceTheDefaults() async {
        let policy = RetryPolicy(retryableURLErrorCodes: [.badURL])
        #expect(await delays(of: policy) { .failure(.invalidURL) }.count == 2)
        #expect(await delays(of: policy) { .failure(.timedOut) }.isEmpty)
    }

    @Test func aConnectionThatIsNotAllowedIsNeverRetried() async {
        let policy = RetryPolicy(retryableURLErrorCodes: [TransportError.Code.refusedByPolicy.urlErrorCode])
        #expect(await delays(of: policy) { .failure(.refusedByPolicy) }.isEmpty)
        #expect(await delays(of: policy) { .failure(.outOfResources) }.count == 2)
    }

    @Test func aSubclassDecidesForItself() async {
        final class Never: RetryPolicy, @unchecked Sendable {
            override func shouldRetry(request: Request, dueTo error: any Error) -> Bool { false }
        }
        #expect(await delays(of: Never()) == [])
    }

    @Test func lostConnectionsHaveASeparatePolicy() async {
        #expect(await delays(of: ConnectionLostRetryPolicy()) { .failure(.connectionLost) } == [0.5, 1])
        #expect(await delays(of: ConnectionLostRetryPolicy()) { .failure(.timedOut) } == [])
        #expect(await delays(of: ConnectionLostRetryPolicy()) { .status(503) } == [])
        #expect(await delays(of: ConnectionLostRetryPolicy(), method: .post) { .failure(.connectionLost) } == [])
        #expect(
            await delays(of: ConnectionLostRetryPolicy(retryLimit: 1, exponentialBackoffScale: 3)) {
                .failure(.connectionLost)
            } == [3])
    }

    @Test func theFactoriesForwardTheirArguments() {
        let policy: RetryPolicy = .retryPolicy(
            retryLimit: 7, exponentialBackoffBase: 3, exponentialBackoffScale: 0.25, retryableHTTPMethods: [.post],
            retryableHTTPStatusCodes: [500], retryableURLErrorCodes: [.timedOut])
        #expect(policy.retryLimit == 7)
        #expect(policy.exponentialBackoffBase == 3)
        #expect(policy.exponentialBackoffScale == 0.25)
        #expect(policy.retryableHTTPMethods == [.post])
        #expect(policy.retryableHTTPStatusCodes == [500])
        #expect(policy.retryableURLErrorCodes == [.timedOut])
        #expect(policy.maximumRetryAfter == nil)
        let respecting: RetryPolicy = .retryPolicy(respectingRetryAfterUpTo: 30, retryableHTTPStatusCodes: [503])
        #expect(respecting.maximumRetryAfter == 30)
        #expect(respecting.retryableHTTPStatusCodes == [429, 503])
    }

    // MARK: Bodies

    @Test func aConsumedStreamIsNotRetried() async {
        let body = InputStream(data: Data("once".utf8))
        let transport = MockTransport { _ in .status(503) }
        let session = Session(interceptor: .retryPolicy, transport: transport)
        let response = await session.upload(body, to: "http://mock/", method: .put).validate()
            .serializingResponse(using: Bytes()).response
        #expect(response.error?.responseCode == 503)
        #expect(transport.requests.count == 1)
    }

    @Test func consumedChunksAreNotRetried() async {
        let (chunks, source) = AsyncStream.makeStream(of: Data.self)
        source.yield(Data("once".utf8))
        source.finish()
        let transport = MockTransport { _ in .status(503) }
        let session = Session(interceptor: .retryPolicy, transport: transport)
        let response = await session.upload(chunks, to: "http://mock/", method: .put).validate()
            .serializingResponse(using: Bytes()).response
        #expect(response.error?.responseCode == 503)
        #expect(transport.requests.count == 1)
    }

    @Test func aURLRequestWithAConsumedStreamIsNotRetried() async throws {
        var urlRequest = URLRequest(url: try #require(URL(string: "http://mock/")))
        urlRequest.httpMethod = "PUT"
        urlRequest.httpBodyStream = InputStream(data: Data("once".utf8))
        let transport = MockTransport { _ in .status(503) }
        let session = Session(interceptor: .retryPolicy, transport: transport)
        let response = await session.request(urlRequest).validate().serializingResponse(using: Bytes()).response
        #expect(response.error?.responseCode == 503)
        #expect(transport.requests.count == 1)
    }

    @Test func aStreamCreatedForEachAttemptIsRetried() async {
        struct Fresh: URLRequestConvertible {
            func asURLRequest() throws -> URLRequest {
                var urlRequest = try URLRequest(url: "http://mock/", method: .put)
                urlRequest.httpBodyStream = InputStream(data: Data("again".utf8))
                return urlRequest
            }
        }
        let transport = MockTransport { _ in .status(503) }
        let session = Session(
            interceptor: .retryPolicy(retryLimit: 1, exponentialBackoffScale: 0.001), transport: transport)
        let response = await session.request(Fresh()).validate().serializingResponse(using: Bytes()).response
        #expect(response.error?.responseCode == 503)
        #expect(transport.requests.map(\.body) == [Data("again".utf8), Data("again".utf8)])
    }

    @Test func replayableBodiesAreRetried() async {
        let transport = MockTransport { _ in .status(503) }
        let session = Session(
            interceptor: .retryPolicy(retryLimit: 1, exponentialBackoffScale: 0.001), transport: transport)
        _ = await session.upload(Data("again".utf8), to: "http://mock/", method: .put).validate()
            .serializingResponse(using: Bytes()).response
        #expect(transport.requests.map(\.body) == [Data("again".utf8), Data("again".utf8)])
    }
}
