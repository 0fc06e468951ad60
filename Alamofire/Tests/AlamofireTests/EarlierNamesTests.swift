import AfarTestServer
import Alamofire
import Testing

/// Code written for Alamofire 4.x, to the extent that its names are supported.
@Suite struct EarlierNamesTests {
    private let queue = DispatchQueue(label: "earlier")

    @Test func aSessionManagerMakesRequests() async throws {
        let server = try await TestServer.start()
        let configuration = URLSessionConfiguration.default
        configuration.timeoutIntervalForRequest = 20
        configuration.httpAdditionalHeaders = SessionManager.defaultHTTPHeaders
        let sessionManager = SessionManager(configuration: configuration)
        let headers: HTTPHeaders = ["X-Version": "4"]
        let parameters: Parameters = ["foo": ["bar", "baz"], "on": true]
        let (json, duration) = await withCheckedContinuation { continuation in
            sessionManager.request(
                server.url("/get"), method: .get, parameters: parameters, encoding: URLEncoding.default,
                headers: headers
            )
            .validate(statusCode: 200..<300)
            .validate(contentType: ["application/json"])
            .responseJSON(queue: queue) { response in
                #expect(response.result.isSuccess)
                let json = response.result.value as? [String: Any]
                continuation.resume(
                    returning: (json?["query"] as? String, response.timeline.totalDuration))
            }
        }
        #expect(json == "foo%5B%5D=bar&foo%5B%5D=baz&on=1")
        #expect(duration > 0)
        #expect(server.lastRequest(path: "/get")?.headers["User-Agent"]?.isEmpty == false)
        #expect(SessionManager.default !== AF)
        await server.stop()
    }

    @Test func responsesWithoutASerializerHaveTheirNames() async throws {
        let server = try await TestServer.start()
        let data: DefaultDataResponse = await withCheckedContinuation { continuation in
            Alamofire.request(server.url("/text")).response(queue: queue) { continuation.resume(returning: $0) }
        }
        #expect(data.response?.statusCode == 200)
        #expect(data.data?.isEmpty == false)
        #expect(data.error == nil)
        #expect(data.timeline.requestDuration > 0)
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("earlier-\(UUID().uuidString)")
        let file = folder.appendingPathComponent("file")
        let download: DefaultDownloadResponse = await withCheckedContinuation { continuation in
            Alamofire.download(server.url("/bytes/100"), to: { _, _ in (file, [.createIntermediateDirectories]) })
                .response(queue: queue) { continuation.resume(returning: $0) }
        }
        #expect(download.destinationURL == file)
        #expect(download.temporaryURL != nil)
        #expect(download.resumeData == nil)
        try FileManager.default.removeItem(at: folder)
        await server.stop()
    }

    @Test func propertyListsAreEncodedAndRead() async throws {
        let server = try await TestServer.start()
        let sent = await withCheckedContinuation { continuation in
            Alamofire.request(
                server.url("/post"), method: .post, parameters: ["name": "Ada"],
                encoding: PropertyListEncoding(format: .xml, options: 0)
            ).responseString(queue: queue) { continuation.resume(returning: $0.result.value) }
        }
        #expect(sent?.contains("plist") == true)
        let received = await withCheckedContinuation { continuation in
            Alamofire.request(server.url("/plist")).responsePropertyList(queue: queue) { response in
                continuation.resume(returning: response.result.value is [String: Any])
            }
        }
        #expect(received)
        await server.stop()
    }

    @Test func aBodyIsStreamedToAClosure() async throws {
        let server = try await TestServer.start()
        let (stream, chunks) = AsyncStream.makeStream(of: Int.self)
        let response = await Alamofire.request(server.url("/large/100000"))
            .stream { data in chunks.yield(data.count) }
            .serializingData(emptyResponseCodes: [200]).response
        chunks.finish()
        #expect(response.error == nil)
        #expect(await stream.reduce(0, +) == 100_000)
        await server.stop()
    }

    @Test func credentialsHaveTheirEarlierNames() async throws {
        let server = try await TestServer.start()
        let url = server.url("/basic-auth/ada/lovelace")
        let named = await Alamofire.request(url).authenticate(user: "ada", password: "lovelace").validate()
            .serializingData().response
        #expect(named.response?.statusCode == 200)
        let credential = URLCredential(user: "ada", password: "lovelace", persistence: .none)
        let given = await Alamofire.request(url).authenticate(usingCredential: credential).validate()
            .serializingData().response
        #expect(given.response?.statusCode == 200)
        let wrong = await Alamofire.request(url).authenticate(user: "ada", password: "byron", persistence: .none)
            .validate()
            .serializingData().response
        #expect(wrong.error?.responseCode == 401)
        await server.stop()
    }

    @Test func theModuleHasFunctions() async throws {
        let server = try await TestServer.start()
        let parameters = ["a": "1"]
        let requests = [
            request(server.url("/get")), request(server.url("/get"), parameters: parameters),
            request(URLRequest(url: server.url("/get"))), Alamofire.upload(Data("x".utf8), to: server.url("/upload")),
        ]
        for request in requests {
            #expect(await request.validate().serializingData().response.error == nil)
        }
        #expect(await download(server.url("/bytes/10")).serializingData().response.value?.count == 10)
        let chunks = await streamRequest(server.url("/bytes/10")).streamTask().streamingData()
            .reduce(0) { $0 + ($1.value?.count ?? 0) }
        #expect(chunks == 10)
        await server.stop()
    }
}
