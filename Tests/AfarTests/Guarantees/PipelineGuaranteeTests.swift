import Afar
import AfarCore
import AfarTestServer
import Foundation
import Testing

/// The order of the steps in each attempt, and the time of validation.
@Suite struct PipelineGuaranteeTests {
    private struct NotedURL: URLConvertible {
        let url: URL
        let steps: Steps

        func asURL() throws -> URL {
            steps.take("url")
            return url
        }
    }

    private func adapter(_ name: String, _ steps: Steps) -> Adapter {
        Adapter { urlRequest, _, completion in
            steps.take(name)
            completion(.success(urlRequest))
        }
    }

    @Test(arguments: TransportKind.allCases)
    func theStagesOfEachAttemptRunInOrder(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        let steps = Steps()
        server.route("/stages") { _ in
            steps.take("server")
            return server.requestCount(path: "/stages") < 2 ? .text("busy", status: 503) : .text("done")
        }
        let session = kind.session(interceptor: adapter("session's adapter", steps))
        let request = session.request(
            NotedURL(url: server.url("/stages"), steps: steps),
            interceptor: .interceptor(
                adapters: [adapter("request's adapter", steps)],
                retriers: [
                    Retrier { request, _, _, completion in
                        steps.take("retrier")
                        completion(request.retryCount == 0 ? .retry : .doNotRetry)
                    }
                ]),
            requestModifier: { _ in steps.take("modifier") })
        request.validate { _, response, _ in
            steps.take("validator \(response.statusCode), \(request.allMetrics.count) measured")
            return response.statusCode == 200 ? .success(()) : .failure(AFError.explicitlyCancelled)
        }
        let serializer = ClosureResponseSerializer<Int> { _, response, _, _ in
            steps.take("serializer")
            return response?.statusCode ?? 0
        }
        #expect(try await request.serializingResponse(using: serializer).value == 200)
        let attempt = ["url", "modifier", "session's adapter", "request's adapter", "server"]
        #expect(
            steps.taken
                == attempt + ["validator 503, 1 measured", "retrier"]
                + attempt + ["validator 200, 2 measured", "serializer"])
        await server.stop()
    }

    @Test(arguments: TransportKind.allCases)
    func aGETWithABodyFailsBeforeAnythingIsSent(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        let session = kind.session()
        var urlRequest = URLRequest(url: server.url("/get"))
        urlRequest.httpBody = Data("body".utf8)
        let steps = Steps()
        let response = await session.request(
            urlRequest,
            interceptor: .adapter { urlRequest, _, completion in
                steps.take("adapted")
                completion(.success(urlRequest))
            }
        ).serializingData().response
        #expect(response.error?.isURLRequestValidationError == true)
        #expect(steps.taken == [])
        let adapted = await session.request(server.url("/get"))
            .adapt(
                using: .adapter { urlRequest, _, completion in
                    var urlRequest = urlRequest
                    urlRequest.httpBody = Data("body".utf8)
                    completion(.success(urlRequest))
                }
            )
            .serializingData().response
        #expect(adapted.error?.isRequestAdaptationError == true)
        #expect(adapted.error?.underlyingError?.asAFError?.isURLRequestValidationError == true)
        #expect(server.connectionCount == 0)
        await server.stop()
    }

    @Test(arguments: TransportKind.allCases, [404, 500])
    func validationIsOffByDefault(kind: TransportKind, status: Int) async throws {
        let server = try await TestServer.start()
        let session = kind.session()
        let response = await session.request(server.url("/status/\(status)")).serializingData().response
        #expect(response.error == nil)
        #expect(response.response?.statusCode == status)
        await server.stop()
    }

    @Test(arguments: TransportKind.allCases)
    func validatorsRunInOrderAndTheFirstFailureWins(kind: TransportKind) async throws {
        struct Second: Error {}
        struct Third: Error {}
        let server = try await TestServer.start()
        let steps = Steps()
        let session = kind.session()
        let request = session.request(server.url("/json"))
            .validate { _, _, _ in
                steps.take("first")
                return .success
            }
            .validate { _, _, _ in
                steps.take("second")
                return .failure(Second())
            }
            .validate { _, _, _ in
                steps.take("third")
                return .failure(Third())
            }
        let response = await request.serializingData().response
        #expect(response.error?.isResponseValidationError == true)
        #expect(response.error?.underlyingError is Second)
        #expect(steps.taken == ["first", "second"])
        await server.stop()
    }

    @Test(arguments: TransportKind.allCases)
    func validatorsAreSkippedAfterAnError(kind: TransportKind) async throws {
        let port = try ClosedPort()
        let steps = Steps()
        let session = kind.session()
        let response = await session.request(port.url)
            .validate { _, _, _ in
                steps.take("validator")
                return .success
            }
            .serializingData().response
        #expect(response.error?.isSessionTaskError == true)
        #expect(steps.taken == [])
    }

    @Test(arguments: TransportKind.allCases)
    func validatorsRunAgainOnEachRetry(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        let statuses = Locked<[Int]>([])
        let session = kind.session()
        let request = session.request(
            server.url("/unstable?failures=2&key=validated"),
            interceptor: .retryPolicy(exponentialBackoffScale: 0.001)
        )
        .validate { _, response, _ in
            statuses.withLock { $0.append(response.statusCode) }
            return .success
        }
        .validate()
        #expect(await request.serializingData().response.error == nil)
        #expect(statuses.withLock { $0 } == [503, 503, 200])
        await server.stop()
    }

    @Test(arguments: TransportKind.allCases)
    func anEmptyBodyIsASuccessForHEADAnd204And205Only(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        let session = kind.session()
        let head = session.request(server.url("/json"), method: .head)
        #expect(await head.serializingData().response.value == Data())
        #expect(await head.serializingString().response.value?.isEmpty == true)
        #expect(await head.serializingDecodable(Empty.self).response.error == nil)
        for status in [204, 205] {
            let request = session.request(server.url("/status/\(status)"))
            #expect(await request.serializingData().response.value == Data())
            #expect(await request.serializingString().response.value?.isEmpty == true)
            #expect(await request.serializingDecodable(Empty.self).response.error == nil)
        }
        for error in [
            await session.request(server.url("/empty")).serializingData().response.error,
            await session.request(server.url("/empty")).serializingString().response.error,
            await session.request(server.url("/empty")).serializingDecodable(Empty.self).response.error,
        ] {
            guard case .responseSerializationFailed(reason: .inputDataNilOrZeroLength) = error else {
                Issue.record("not an empty body: \(String(describing: error))")
                continue
            }
        }
        await server.stop()
    }
}
