import Afar
import AfarTestServer
import Testing

/// Ready-made interceptors, as people use them with Alamofire 5.
@Suite struct InterceptionTests {
    @Test func closuresAdaptAndRetry() async throws {
        let server = try await TestServer.start()
        let adapter = Adapter { urlRequest, _, completion in
            var urlRequest = urlRequest
            urlRequest.headers.add(name: "X-Adapted", value: "yes")
            completion(.success(urlRequest))
        }
        let retrier = Retrier { request, _, error, completion in
            print(error.localizedDescription)
            completion(request.retryCount < 2 ? .retryWithDelay(0.001) : .doNotRetry)
        }
        let interceptors: [RequestInterceptor] = [
            Interceptor(adapter: adapter, retrier: retrier),
            Interceptor(adapters: [adapter], retriers: [retrier], interceptors: []),
            .interceptor(adapter: adapter, retrier: retrier),
        ]
        for (number, interceptor) in interceptors.enumerated() {
            let request = AF.request(
                server.url("/unstable?failures=2&key=\(number)"), interceptor: interceptor
            ).validate()
            let response = await request.serializingData().response
            #expect(response.error == nil)
            #expect(response.request?.headers["X-Adapted"] == "yes")
            #expect(request.retryCount == 2)
        }
        await server.stop()
    }

    @Test func policiesTryAgain() async throws {
        let server = try await TestServer.start()
        let policies: [RequestInterceptor] = [
            RetryPolicy(retryLimit: 3, exponentialBackoffBase: 2, exponentialBackoffScale: 0.001),
            .retryPolicy(retryLimit: 3, exponentialBackoffScale: 0.001),
        ]
        for (number, policy) in policies.enumerated() {
            let request = AF.request(server.url("/unstable?failures=2&key=p\(number)"), interceptor: policy).validate()
            #expect(await request.serializingData().response.error == nil)
            #expect(request.retryCount == 2)
        }
        let lost = AF.request(server.url("/status/503"), interceptor: ConnectionLostRetryPolicy()).validate()
        #expect(await lost.serializingData().response.error?.responseCode == 503)
        #expect(lost.retryCount == 0)
        await server.stop()
    }

    @Test func aRequestIsGivenInterceptorsAfterItWasMade() async throws {
        let server = try await TestServer.start()
        let request = AF.request(server.url("/unstable?failures=1&key=later"))
            .adapt(
                using: Adapter { urlRequest, _, completion in
                    completion(
                        Result {
                            try URLRequest(url: urlRequest.url ?? server.url, method: .get, headers: ["X-Late": "yes"])
                        })
                }
            )
            .retry(
                using: Retrier { request, _, _, completion in
                    completion(request.retryCount < 1 ? .retry : .doNotRetry)
                }
            )
            .validate()
        let response = await request.serializingData().response
        #expect(response.error == nil && request.retryCount == 1)
        #expect(response.request?.headers["X-Late"] == "yes")
        let both = AF.request(server.url("/unstable?failures=1&key=both"))
            .interceptor(.retryPolicy(exponentialBackoffScale: 0.001)).validate()
        #expect(await both.serializingData().response.error == nil)
        await server.stop()
    }
}
