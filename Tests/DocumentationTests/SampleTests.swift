import Afar
import AfarTestServer
import Testing

/// Runs the samples and checks their output.
@Suite(.timeLimit(.minutes(1))) struct SampleTests {
    @Test func theFirstRequestWithAHandlerAndAwaited() async throws {
        ReadMeSamples.handler()
        #expect(await Output.has("Hello, Ada"))
        try await ReadMeSamples.awaiting()
        #expect(await Output.has("Hello again, Ada"))
    }

    @Test func parametersMatchTheGuide() async throws {
        RequestSamples.query()
        #expect(await Output.has("/search?limit=10&q=sea%20shells"))
        try await RequestSamples.formAndJSON()
        #expect(await Output.has("name=Grace&tags%5B%5D=admin&tags%5B%5D=navy"))
        #expect(await Output.has(where: { $0.contains(#""tags":["admin","navy"]"#) }))
        try await RequestSamples.configuredEncoder()
        #expect(await Output.has("POST /filter?tag=a&tag=b 0"))
    }

    @Test func headersAndModifiersReachTheRequest() async throws {
        try await RequestSamples.headers()
        #expect(await Output.has("Bearer s3cret, trace 42"))
        try await RequestSamples.modifier()
        try await RequestSamples.validation()
        #expect(await Output.has("nobody, trace none"))
    }

    @Test func redirectsAndChallengesMatchTheGuide() async throws {
        #expect(RedirectSamples.configured().configuration.maximumRedirects == 5)
        await RedirectSamples.leftAlone()
        #expect(await Output.has("Moved to /me"))
        try await RedirectSamples.modified()
        #expect(await Output.has("nobody, trace moved"))
        try await AuthenticationSamples.credential()
        #expect(await Output.has("The vault is open"))
        try await AuthenticationSamples.provider()
        #expect(await Output.has("Provided: The vault is open"))
    }

    @Test func customSchemesAndTransportsMatchTheGuides() async throws {
        let server = try await TestServer.start()
        server.route("/signed") { request in
            let isSigned = request.headers["Authorization"] == #"HMAC user="ada", signature="GET /signed n1 s3cret""#
            return isSigned
                ? .text("signed") : .text("no", status: 401).adding("WWW-Authenticate", #"HMAC nonce="n1""#)
        }
        let session = Session(configuration: AuthenticationSamples.scheme { "\($0) \($1)" })
        let request = session.request(server.url("/signed")).authenticate(username: "ada", password: "s3cret")
        #expect(try await request.serializingString().value == "signed")
        await server.stop()

        let queued = Session(transport: QueueTransport())
        #expect(try await queued.request("http://example.com/").serializingString().value == "hello")
    }

    @Test func serializersMatchTheGuide() async throws {
        ResponseSamples.string()
        #expect(await Output.has("Be kind."))
        ResponseSamples.json()
        #expect(await Output.has("JSON says Ada"))
        try await ResponseSamples.decoder()
        #expect(await Output.has("Decoded Ada"))
        try await ResponseSamples.propertyList()
        #expect(await Output.has("The theme is dark"))
        try await ResponseSamples.empty()
        #expect(await Output.has("Gone"))
    }

    @Test func aCustomSerializerLooksBuiltIn() async throws {
        ResponseSamples.ownSerializer()
        #expect(await Output.has(#"["red", "green", "blue"]"#))
        try await ResponseSamples.ownSerializerAwaited()
        #expect(await Output.has("3 tags"))
    }

    @Test func severalHandlersShareOneResponse() async {
        ResponseSamples.severalHandlers()
        #expect(await Output.has("First Grace"))
        #expect(await Output.has("then 23 bytes"))
        #expect(await Output.has("and off the main queue"))
    }

    @Test func awaitingAndCancelling() async throws {
        try await AsyncSamples.twoAtOnce()
        #expect(await Output.has("Ada and Grace"))
        try await AsyncSamples.many()
        #expect(await Output.has(where: { $0.hasPrefix("All of them") && $0.contains("Ada") && $0.contains("Grace") }))
        #expect(await Output.has(where: { $0.hasPrefix("Not all of them") && $0.contains("404") }))
        await AsyncSamples.wholeResponse()
        #expect(await Output.has(where: { $0.hasPrefix("200, 21 bytes, latency ") }))
        await AsyncSamples.cancelling()
        #expect(await Output.has("cancelled, true"))
        AsyncSamples.cancellingTheRequest()
        #expect(await Output.has("We changed our mind"))
    }

    @Test func aProgramReceivesItsResponse() async throws {
        try await AsyncSamples.program()
        await AsyncSamples.loopInAProgram()
        #expect(await Output.has("tea"))
        // The program blocks its thread, so it doesn't run in the cooperative pool.
        await withCheckedContinuation { continuation in
            Thread {
                AsyncSamples.handlerInAProgram()
                continuation.resume()
            }.start()
        }
        #expect(await Output.has("Be kind."))
    }

    @Test func errorsDescribeTheProblemAndItsLocation() async throws {
        await ErrorSamples.kinds()
        #expect(await Output.has("The server answered 404"))
        let port = try ClosedPort()
        await ErrorSamples.causes(url: port.url)
        #expect(await Output.has("true"))
        #expect(await Output.has(where: { $0.hasPrefix("cannotConnect while connecting") }))
    }

    @Test func sessionsAreConfiguredAndIntercepted() async throws {
        let session = SessionSamples.configured()
        #expect(session.configuration.headers["User-Agent"] == "Weather/2.1")
        #expect(SessionSamples.urlSession().transport is URLSessionTransport)
        try await SessionSamples.intercepted()
        #expect(await Output.has("At last"))
        #expect(await Output.has("2 retries"))
    }

    @Test func aCustomTransportAnswers() async throws {
        let session = Session(transport: Teapot())
        let response = await session.request("https://example.com/").serializingString().response
        #expect(response.response?.statusCode == 418)
        #expect(response.value == "short and stout")
    }
}
