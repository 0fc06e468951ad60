import AfarTestServer
import Alamofire
import Testing

/// Shapes of Alamofire 4's `SessionManager`.
@Suite struct SessionManagerTests {
    struct HeaderAdapter: RequestAdapter {
        let value: String

        func adapt(
            _ urlRequest: URLRequest, for session: Session,
            completion: @escaping @Sendable (Result<URLRequest, Error>) -> Void
        ) {
            var urlRequest = urlRequest
            urlRequest.setValue(value, forHTTPHeaderField: "X-Adapted")
            completion(.success(urlRequest))
        }
    }

    struct OnceRetrier: RequestRetrier {
        func retry(
            _ request: Request, for session: Session, dueTo error: Error,
            completion: @escaping @Sendable (RetryResult) -> Void
        ) {
            completion(request.retryCount == 0 ? .retry : .doNotRetry)
        }
    }

    final class AppManager: SessionManager, @unchecked Sendable {}

    @Test func theAdapterAndTheRetrierCanBeSet() async throws {
        let server = try await TestServer.start()
        let managers = [SessionManager(), AppManager(configuration: URLSessionConfiguration.default)]
        for sessionManager in managers {
            #expect(sessionManager.adapter == nil)
            sessionManager.adapter = HeaderAdapter(value: "4")
            sessionManager.retrier = OnceRetrier()
            let request = sessionManager.request(server.url("/status/503")).validate()
            _ = await request.serializingData().response
            #expect(request.retryCount == 1)
            #expect(server.lastRequest(path: "/status/503")?.headers["X-Adapted"] == "4")
            sessionManager.retrier = nil
            let second = sessionManager.request(server.url("/status/503")).validate()
            _ = await second.serializingData().response
            #expect(second.retryCount == 0)
        }
        await server.stop()
    }

    @Test func theAdapterRunsAfterTheInterceptors() async throws {
        let server = try await TestServer.start()
        let sessionManager = SessionManager(interceptor: Interceptor(adapters: [HeaderAdapter(value: "first")]))
        sessionManager.adapter = HeaderAdapter(value: "second")
        _ = await sessionManager.request(server.url("/get")).serializingData().response
        #expect(server.lastRequest(path: "/get")?.headers["X-Adapted"] == "second")
        await server.stop()
    }

    @Test func aReplacedAdapterCanUseTheManagerWhenItIsReleased() {
        final class Releasing: RequestAdapter, @unchecked Sendable {
            unowned let manager: SessionManager
            init(_ manager: SessionManager) { self.manager = manager }
            deinit { _ = manager.adapter }

            func adapt(
                _ urlRequest: URLRequest, for session: Session,
                completion: @escaping @Sendable (Result<URLRequest, Error>) -> Void
            ) {
                completion(.success(urlRequest))
            }
        }
        let manager = SessionManager()
        manager.adapter = Releasing(manager)
        manager.adapter = nil
        #expect(manager.adapter == nil)
    }

    @Test func aFormWithoutAnEncodingCompletionIsSent() async throws {
        let server = try await TestServer.start()
        SessionManager.default.upload(
            multipartFormData: { $0.append(Data("1".utf8), withName: "one") }, to: server.url("/post"),
            encodingCompletion: nil)
        while server.lastRequest(path: "/post") == nil { try await Task.sleep(nanoseconds: 1_000_000) }
        await server.stop()
    }

    final class ConfiguredManager: SessionManager, @unchecked Sendable {
        init() {
            let configuration = URLSessionConfiguration.default
            configuration.timeoutIntervalForRequest = 7
            super.init(configuration: configuration)
        }
    }

    @Test func subclassesCallTheDesignatedInitializer() async throws {
        let server = try await TestServer.start()
        let manager = ConfiguredManager()
        #expect(manager.session.configuration.timeoutIntervalForRequest == 7)
        #expect(await manager.request(server.url("/get")).serializingData().response.error == nil)
        await server.stop()
    }

    @Test func theModulesFunctionsAcceptDictionariesAsHeaders() async throws {
        let server = try await TestServer.start()
        let headers: [String: String]? = ["X-Version": "4"]
        _ = await Alamofire.request(server.url("/get"), headers: headers).serializingData().response
        #expect(server.lastRequest(path: "/get")?.headers["X-Version"] == "4")
        let queue = DispatchQueue(label: "form")
        let response = await withCheckedContinuation { continuation in
            Alamofire.upload(
                multipartFormData: { $0.append(Data("1".utf8), withName: "one") }, to: server.url("/post"),
                headers: headers, queue: queue
            ) { result in
                dispatchPrecondition(condition: .onQueue(queue))
                guard case .success(let request, _, _) = result else { return continuation.resume(returning: 0) }
                request.response(queue: queue) { continuation.resume(returning: $0.response?.statusCode ?? 0) }
            }
        }
        #expect(response == 200)
        #expect(server.lastRequest(path: "/post")?.headers["X-Version"] == "4")
        await server.stop()
    }

    @Test func theDefaultIsAManager() {
        let sessionManager: SessionManager = SessionManager.default
        #expect(sessionManager === SessionManager.default && SessionManager.default.retrier == nil)
        let session: Session = .default
        #expect(session === AF && session !== sessionManager)
    }

    @Test func headersCanBeDictionaries() async throws {
        let server = try await TestServer.start()
        var defaultHeaders: [String: String] = SessionManager.defaultHTTPHeaders
        defaultHeaders["X-Default"] = "1"
        let configuration = URLSessionConfiguration.default
        configuration.httpAdditionalHeaders = defaultHeaders
        let sessionManager = SessionManager(configuration: configuration)
        let headers: [String: String]? = ["X-Own": "2"]
        let requests = [
            sessionManager.request(server.url("/anything"), headers: headers),
            sessionManager.request(server.url("/anything"), headers: ["X-Own": "2"]),
            sessionManager.upload(Data("x".utf8), to: server.url("/anything"), headers: headers),
        ]
        for request in requests {
            _ = await request.serializingData().response
            #expect(server.lastRequest(path: "/anything")?.headers["X-Own"] == "2")
            #expect(server.lastRequest(path: "/anything")?.headers["X-Default"] == "1")
        }
        _ = await sessionManager.request(server.url("/get"), method: .get, headers: nil).serializingData().response
        #expect(server.lastRequest(path: "/get")?.headers["X-Own"] == nil)
        await server.stop()
    }

    @Test func policiesAreGivenToTheManager() {
        let policies: [String: ServerTrustPolicy] = ["example.com": .performDefaultEvaluation(validateHost: true)]
        let sessionManager = SessionManager(
            configuration: URLSessionConfiguration.default, delegate: SessionDelegate(),
            serverTrustPolicyManager: ServerTrustPolicyManager(policies: policies))
        #expect(sessionManager.serverTrustManager?.evaluators.count == 1)
        #expect(sessionManager.adapter == nil)
    }

    @Test(arguments: [UInt64(1_000_000), 0]) func aFormIsPassedToTheEncodingCompletion(threshold: UInt64) async throws {
        let server = try await TestServer.start()
        let (response, isStreamed) = await withCheckedContinuation { continuation in
            Alamofire.upload(
                multipartFormData: { form in form.append(Data("Ada".utf8), withName: "name") },
                usingThreshold: threshold, to: server.url("/upload"),
                encodingCompletion: { encodingResult in
                    switch encodingResult {
                    case .success(let upload, let streamingFromDisk, _):
                        upload.responseJSON { response in
                            continuation.resume(returning: (response.response?.statusCode, streamingFromDisk))
                        }
                    case .failure:
                        continuation.resume(returning: (nil, false))
                    }
                })
        }
        #expect(response == 200 && isStreamed == (threshold == 0))
        let sent = server.lastRequest(path: "/upload")
        #expect(sent?.headers["Content-Type"]?.hasPrefix("multipart/form-data; boundary=") == true)
        #expect(sent?.text?.contains("Ada") == true)
        await server.stop()
    }

    @Test func aFormThatCannotBeEncodedIsAFailure() async throws {
        let isFailure = await withCheckedContinuation { continuation in
            SessionManager.default.upload(
                multipartFormData: { $0.append(URL(fileURLWithPath: "/none/such"), withName: "file") },
                with: URLRequest(url: URL(fileURLWithPath: "/")),
                encodingCompletion: { result in
                    if case .failure(let error) = result {
                        continuation.resume(returning: (error as? AFError)?.isMultipartEncodingError)
                    } else {
                        continuation.resume(returning: false)
                    }
                })
        }
        #expect(isFailure == true)
    }

    @Test func responsesAndSerializersHaveTheirMethods() throws {
        let response = AFDataResponse<Data>(
            request: nil, response: nil, data: nil, result: .success(Data(#"{"a":1}"#.utf8)))
        let parsed = response.flatMap { try JSONSerialization.jsonObject(with: $0) as? [String: Int] }
        #expect(parsed.value??["a"] == 1)
        #expect(response.flatMap { _ in throw URLError(.badURL) as Error }.error is URLError)
        let result = DataRequest.stringResponseSerializer(encoding: .utf8)
            .serializeResponse(nil, nil, Data("text".utf8), nil)
        #expect(result.value == "text")
        let header = try #require(Request.authorizationHeader(user: "ada", password: "x"))
        #expect(header.key == "Authorization" && header.value == "Basic YWRhOng=")
    }
}
