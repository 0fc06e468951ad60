import Afar
import AfarTestServer
import Testing

/// Adds a token, and tries three times.
final class TokenInterceptor: RequestInterceptor {
    func adapt(
        _ urlRequest: URLRequest, for session: Session, completion: @escaping (Result<URLRequest, Error>) -> Void
    ) {
        var urlRequest = urlRequest
        urlRequest.headers.add(.authorization(bearerToken: "token"))
        completion(.success(urlRequest))
    }

    func retry(
        _ request: Request, for session: Session, dueTo error: Error, completion: @escaping (RetryResult) -> Void
    ) {
        guard request.response?.statusCode == 503, request.retryCount < 3 else {
            return completion(.doNotRetryWithError(error))
        }
        completion(request.retryCount == 0 ? .retry : .retryWithDelay(0.001))
    }
}

/// Only adapts.
struct StateAdapter: RequestInterceptor {
    func adapt(
        _ urlRequest: URLRequest, using state: RequestAdapterState,
        completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void
    ) {
        var urlRequest = urlRequest
        urlRequest.setValue(state.requestID.uuidString, forHTTPHeaderField: "X-Identifier")
        completion(.success(urlRequest))
    }
}

@Suite struct InterceptorTests {
    @Test func theTokenIsAddedAndFailuresAreTriedAgain() async throws {
        let server = try await TestServer.start()
        let request = AF.request(server.url("/unstable?failures=2&key=a"), interceptor: TokenInterceptor()).validate()
        let response = await request.serializingData().response
        #expect(response.response?.statusCode == 200)
        #expect(response.request?.headers["Authorization"] == "Bearer token")
        #expect(request.retryCount == 2)
        let failed = await AF.request(server.url("/status/404"), interceptor: TokenInterceptor())
            .validate().serializingData().response
        guard case let .requestRetryFailed(retryError, originalError)? = failed.error else {
            Issue.record("not the retrier's error: \(failed)")
            return
        }
        #expect(retryError.asAFError?.responseCode == 404)
        #expect(originalError.asAFError(orFailWith: "another error").responseCode == 404)
        await server.stop()
    }

    @Test func theStateFormKnowsTheRequest() async throws {
        let server = try await TestServer.start()
        let request = AF.request(server.url("/get"), interceptor: StateAdapter())
        let echo = try await request.serializingDecodable(Echo.self).value
        #expect(echo.headers["x-identifier"] == request.id.uuidString)
        await server.stop()
    }
}
