import Afar
import AfarAPI
import AfarTestServer
import AfarTesting
import Foundation
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Requests that decode the bodies of error responses.
@Suite(.timeLimit(.minutes(2))) struct ErrorBodyTests {
    fileprivate struct Refusal: Error, Codable, Equatable {
        var errorCode: Int
    }

    private static let problem = #"{"title":"No credit","status":403,"balance":30}"#

    /// Starts a server that answers `/problem` with problem details, `/refusal` with another error, and `/ok` with text.
    private static func server() async throws -> TestServer {
        let server = try await TestServer.start()
        server.route("/problem") { _ in
            .content("application/problem+json; charset=utf-8", Data(problem.utf8), status: 403)
        }
        server.route("/refusal") { _ in .content("application/json", Data(#"{"errorCode":7}"#.utf8), status: 409) }
        server.route("/ok") { _ in .text("fine") }
        return server
    }

    // MARK: Kinds of requests

    @Test func dataRequestsFailWithTheDecodedError() async throws {
        let server = try await Self.server()
        let session = Session()
        let response = await session.request(server.url("/problem"))
            .validate(decoding: ProblemDetails.self)
            .serializingData().response
        let problem = try #require(response.error?.decoded(as: ProblemDetails.self))
        #expect(problem.title == "No credit")
        #expect(problem.extensions == ["balance": .integer(30)])
        #expect(response.error?.isResponseValidationError == true)
        #expect(response.error?.localizedDescription.contains("No credit (status 403)") == true)
        #expect(response.data == Data(Self.problem.utf8))
        #expect(response.error?.decoded(as: Refusal.self) == nil)
        #expect(response.error?.responseCode == 403)
        await server.stop()
    }

    @Test func uploadsFailWithTheDecodedError() async throws {
        let server = try await Self.server()
        let session = Session()
        let error = await session.upload(Data("x".utf8), to: server.url("/refusal"))
            .validate(decoding: Refusal.self)
            .serializingData().response.error
        #expect(error?.decoded(as: Refusal.self) == Refusal(errorCode: 7))
        await server.stop()
    }

    @Test func downloadsFailWithTheDecodedError() async throws {
        let server = try await Self.server()
        let session = Session()
        let request = session.download(server.url("/problem")).validate(decoding: ProblemDetails.self)
        let response = await request.serializingDownloadedFileURL().response
        #expect(response.error?.decoded(as: ProblemDetails.self)?.status == 403)
        let file = try #require(request.fileURL)
        #expect(try Data(contentsOf: file) == Data(Self.problem.utf8))
        let small = session.download(server.url("/problem")).validate(decoding: ProblemDetails.self, limit: 10)
        #expect(await small.serializingDownloadedFileURL().response.error?.responseCode == 403)
        await server.stop()
    }

    @Test func streamsReadTheErrorInsteadOfDeliveringIt() async throws {
        let server = try await Self.server()
        let session = Session()
        let request = session.streamRequest(server.url("/problem")).validate(decoding: ProblemDetails.self)
        let (data, error) = await Self.events(of: request)
        #expect(data.isEmpty)
        #expect(error?.decoded(as: ProblemDetails.self)?.status == 403)
        await server.stop()
    }

    @Test func acceptableResponsesAreDelivered() async throws {
        let server = try await Self.server()
        let session = Session()
        let request = session.request(server.url("/ok")).validate(decoding: ProblemDetails.self)
        #expect(try await request.serializingString().value == "fine")
        let download = session.download(server.url("/ok")).validate(decoding: ProblemDetails.self)
        #expect(try await download.serializingString().value == "fine")
        let stream = session.streamRequest(server.url("/ok")).validate(decoding: ProblemDetails.self)
        let (data, error) = await Self.events(of: stream)
        #expect(data == Data("fine".utf8))
        #expect(error == nil)
        await server.stop()
    }

    /// Returns the delivered bytes and the error of a stream.
    private static func events(of request: DataStreamRequest) async -> (Data, AFError?) {
        var data = Data()
        for await stream in request.streamTask().streamingData() {
            if let chunk = stream.value { data += chunk }
            if let completion = stream.completion { return (data, completion.error) }
        }
        return (data, nil)
    }

    // MARK: Options

    @Test func aSessionCanDecodeAllErrors() async throws {
        let server = try await Self.server()
        var configuration = SessionConfiguration.default
        configuration.validation = .decoding(Refusal.self, contentType: ["Application/*"])
        let session = Session(configuration: configuration)
        let error = await session.request(server.url("/refusal")).serializingData().response.error
        #expect(error?.decoded(as: Refusal.self) == Refusal(errorCode: 7))
        #expect(error?.responseCode == 409)
        let download = await session.download(server.url("/refusal")).serializingData().response.error
        #expect(download?.decoded(as: Refusal.self) == Refusal(errorCode: 7))
        #expect(try await session.request(server.url("/ok")).serializingString().value == "fine")
        await server.stop()
    }

    /// The keys of problem details are standardized.
    @Test func theSessionsDecoderDoesntDecodeProblemDetails() async throws {
        let body = #"{"title": "x", "balance_due": 1}"#
        var configuration = SessionConfiguration.default
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        configuration.decoder = decoder
        let session = Session(
            configuration: configuration,
            transport: MockTransport { _ in
                .data(Data(body.utf8), type: "application/problem+json", status: 400)
            })
        let error = await session.request("http://mock/").validate(decoding: ProblemDetails.self)
            .serializingData().response.error
        #expect(error?.decoded(as: ProblemDetails.self)?.extensions == ["balance_due": .integer(1)])
    }

    @Test func statusCodesAndContentTypesAreConfigurable() async throws {
        let session = Session(
            transport: MockTransport { request in
                let body = Data(#"{"errorCode":7,"title":"t"}"#.utf8)
                return .data(body, type: request["X-Type"] ?? "application/json", status: 418)
            })
        func error(_ type: String, _ validate: (DataRequest) -> DataRequest) async -> AFError? {
            await validate(session.request("http://mock/", headers: ["X-Type": type])).serializingData().response.error
        }
        #expect(await error("a/b") { $0.validate(statusCode: [418], decoding: Refusal.self) } == nil)
        #expect(await error("a/b") { $0.validate(statusCode: 200..<418, decoding: Refusal.self) }.isRefusal)
        #expect(await error("A/B; c=d") { $0.validate(decoding: Refusal.self, contentType: ["c/d", "a/B"]) }.isRefusal)
        #expect(await error("a/b") { $0.validate(decoding: Refusal.self, contentType: ["b/a"]) }?.responseCode == 418)
        #expect(await error("a/b") { $0.validate(decoding: Refusal.self, contentType: []) }?.responseCode == 418)
        let json = "application/json"
        #expect(await error(json) { $0.validate(decoding: ProblemDetails.self) }?.responseCode == 418)
        let decoded = await error(json) { $0.validate(decoding: ProblemDetails.self, contentType: [json]) }
        #expect(decoded?.decoded(as: ProblemDetails.self)?.title == "t")
    }

    @Test func theSessionsDecoderIsTheDefault() async {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        var configuration = SessionConfiguration.default
        configuration.decoder = decoder
        let session = Session(
            configuration: configuration,
            transport: MockTransport { _ in .json(text: #"{"error_code":7}"#, status: 400) })
        let request = session.request("http://mock/").validate(decoding: Refusal.self)
        #expect(await request.serializingData().response.error.isRefusal)
        let other = session.request("http://mock/").validate(decoding: Refusal.self, using: JSONDecoder())
        #expect(await other.serializingData().response.error?.responseCode == 400)
    }

    @Test(arguments: ["", "{", "[]", "<html>", #"{"errorCode":"x"}"#])
    func otherBodiesAreUnacceptableStatusCodes(body: String) async throws {
        let session = Session(transport: MockTransport { _ in .json(text: body, status: 500) })
        let response = await session.request("http://mock/").validate(decoding: Refusal.self).serializingData().response
        #expect(response.error?.responseCode == 500)
        #expect(response.data ?? Data() == Data(body.utf8))
        let download = session.download("http://mock/").validate(decoding: Refusal.self)
        #expect(await download.serializingDownloadedFileURL().response.error?.responseCode == 500)
        let stream = session.streamRequest("http://mock/").validate(decoding: Refusal.self)
        #expect(await Self.events(of: stream).1?.responseCode == 500)
    }

    @Test(arguments: [0, 1, 2, 14, 15, 16, .max, -1])
    func theLimitIsInBytes(limit: Int) async {
        let body = #"{"errorCode":7}"#
        let session = Session(transport: MockTransport { _ in .json(text: body, status: 500).chunked(into: 2) })
        let request = session.request("http://mock/").validate(decoding: Refusal.self, limit: limit)
        #expect(await request.serializingData().response.error.isRefusal == (limit >= body.utf8.count))
        let download = session.download("http://mock/").validate(decoding: Refusal.self, limit: limit)
        #expect(await download.serializingData().response.error.isRefusal == (limit >= body.utf8.count))
        let stream = session.streamRequest("http://mock/").validate(decoding: Refusal.self, limit: limit)
        #expect(await Self.events(of: stream).1.isRefusal == (limit >= body.utf8.count))
    }

    // MARK: Failures and retries

    @Test func anInterruptedErrorIsAnUnacceptableStatusCode() async throws {
        let head = "HTTP/1.1 500 x\r\nContent-Type: application/json\r\nContent-Length: 20\r\n\r\n"
        let server = try await RawServer.start([.receiveHead, .send(head + #"{"errorCode":7}"#), .close])
        let session = Session()
        let stream = session.streamRequest(server.url).validate(decoding: Refusal.self)
        #expect(await Self.events(of: stream).1?.responseCode == 500)
        await server.stop()
    }

    @Test func anEndlessErrorEndsAtTheLimit() async throws {
        let head = "HTTP/1.1 500 x\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n"
        let chunk = String(repeating: " ", count: 10_000)
        let server = try await RawServer.start([.receiveHead, .send(head), .loop([.send(chunk)])])
        let session = Session()
        let stream = session.streamRequest(server.url).validate(decoding: Refusal.self)
        #expect(await Self.events(of: stream).1?.responseCode == 500)
        try await server.peerClosed(0)
        await server.stop()
    }

    /// Each byte arrives in time, but not the whole body.
    @Test func aSlowErrorEndsAtTheIdleTimeout() async throws {
        let head = "HTTP/1.1 500 x\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n"
        let server = try await RawServer.start([.receiveHead, .send(head), .loop([.send(" "), .wait(0.05)])])
        let session = Session()
        let stream = session.streamRequest(server.url).validate(decoding: Refusal.self).options { $0.idleTimeout = 0.5 }
        #expect(await Self.events(of: stream).1?.responseCode == 500)
        try await server.peerClosed(0)
        await server.stop()
    }

    @Test func cancellationEndsTheReading() async throws {
        let head = "HTTP/1.1 500 x\r\nContent-Type: application/json\r\nContent-Length: 20\r\n\r\n{"
        let server = try await RawServer.start([.receiveHead, .send(head), .waitForever])
        let session = Session()
        let request = session.streamRequest(server.url).validate(decoding: Refusal.self)
        async let events = Self.events(of: request)
        for await _ in request.httpResponses() { break }
        request.cancel()
        #expect(await events.1?.isExplicitlyCancelledError == true)
        try await server.peerClosed(0)
        await server.stop()
    }

    @Test func retriersDecideOnTheStatusCode() async throws {
        let server = try await TestServer.start()
        server.route("/busy") { _ in
            let isBusy = server.requestCount(path: "/busy") < 3
            return isBusy ? .content("application/json", Data(#"{"errorCode":7}"#.utf8), status: 503) : .text("done")
        }
        let session = Session(interceptor: RetryPolicy(exponentialBackoffScale: 0))
        let request = session.request(server.url("/busy")).validate(decoding: Refusal.self)
        #expect(try await request.serializingString().value == "done")
        #expect(request.retryCount == 2)
        await server.stop()
    }

    @Test func theErrorIsFoundInTheErrorOfARetrier() async {
        let session = Session(transport: MockTransport { _ in .json(text: #"{"errorCode":7}"#, status: 400) })
        let retrier = Retrier { _, _, _, completion in completion(.doNotRetryWithError(CancellationError())) }
        let interceptor = Interceptor(retriers: [retrier])
        let request = session.request("http://mock/", interceptor: interceptor).validate(decoding: Refusal.self)
        let error = await request.serializingData().response.error
        guard case .requestRetryFailed = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(error.isRefusal)
    }

    @Test func otherErrorsAreNotDecoded() {
        #expect(CancellationError().decoded(as: CancellationError.self) == nil)
        #expect(AFError.explicitlyCancelled.decoded(as: Refusal.self) == nil)
    }

    /// The error response to a resumed download is in a separate file.
    @Test func resumedDownloadsDecodeErrors() async throws {
        let half = "HTTP/1.1 200 OK\r\nETag: \"1\"\r\nContent-Length: 8\r\n\r\nhalf"
        let refusal =
            "HTTP/1.1 409 x\r\nContent-Type: application/json\r\nContent-Length: 15\r\n\r\n{\"errorCode\":7}"
        let server = try await RawServer.start(scripts: [
            [.receiveHead, .send(half), .close], [.receiveHead, .send(refusal)],
        ])
        let session = Session()
        let request = session.download(server.url)
        _ = await request.serializingData().response
        let data = try #require(request.resumeData)
        let resumed = session.download(resumingWith: data).validate(decoding: Refusal.self)
        #expect(await resumed.serializingData().response.error.isRefusal)
        await server.stop()
    }
}

extension AFError? {
    /// Whether the error contains the decoded error of these tests.
    fileprivate var isRefusal: Bool { self?.decoded(as: ErrorBodyTests.Refusal.self) != nil }
}
