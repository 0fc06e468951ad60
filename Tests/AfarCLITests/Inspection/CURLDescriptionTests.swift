import Afar
import AfarTestServer
import Foundation
import Testing

/// Runs the commands that `cURLDescription()` returns, in several shells and with the real curl.
struct CURLDescriptionTests {
    /// The parts of a request that the server received.
    private struct ReceivedRequest: Equatable {
        var method: String
        var target: String
        var body: Data
        var headers: [String]

        init(_ request: ServerRequest, ignoring ignored: Set<String>) {
            (method, target, body) = (request.method, request.target, request.body)
            headers = request.headers.fields.filter { !ignored.contains($0.name.lowercased()) }
                .map { "\($0.name.lowercased()): \($0.value)" }.sorted()
        }
    }

    private static let hostileTexts = [
        #"it's "quoted" \"#, "$HOME $(exit 1) `id` !! ; & | > < * ~ #", "tab\there", "ü 日本語 \u{1F600}", "",
        "@/etc/passwd", "a;b:c", "%{http_code} %s \\n", "-X DELETE", "--next", "'\u{301}",
    ]

    /// Sends a request, runs its curl command in several shells, and compares the requests that the server receives.
    ///
    /// - Parameters:
    ///   - input: The command's standard input.
    ///   - path: The expected path on the wire, or `nil` for the path of the request's URL.
    ///   - ignored: The headers that may differ.
    private func expectSameRequest(
        input: Data? = nil, at path: String? = nil, ignoring ignored: Set<String> = [],
        location: SourceLocation = #_sourceLocation,
        _ make: (Session, TestServer) throws -> DataRequest
    ) async throws {
        let server = try await TestServer.start()
        var configuration = SessionConfiguration.default
        configuration.headers.add(name: "X-Session", value: "it's the session's")
        let session = Session(configuration: configuration)
        let request = try make(session, server)
        let response = await request.serializingData(emptyResponseCodes: [200]).response
        try #require(response.error == nil, sourceLocation: location)
        let path = try #require(
            path ?? request.lastRequest?.url?.path(percentEncoded: true), sourceLocation: location)
        let wanted = ReceivedRequest(
            try #require(server.lastRequest(path: path), sourceLocation: location), ignoring: ignored)

        let pipe = input.map { "printf %s \($0.base64EncodedString()) | base64 -d | " } ?? ""
        let command = pipe + request.cURLDescription()
        for shell in ["bash", "dash"] {
            let outcome = try await Tool.sh("exec \(shell) -s <<'END OF COMMAND'\n\(command)\nEND OF COMMAND\n")
            #expect(outcome.status == 0, "\(command)\n\(outcome.errors)", sourceLocation: location)
            let seen = ReceivedRequest(
                try #require(server.lastRequest(path: path), sourceLocation: location), ignoring: ignored)
            #expect(seen == wanted, "\(command)", sourceLocation: location)
        }
        #expect(server.requestCount(path: path) == 3, "\(command)", sourceLocation: location)
        await server.stop()
    }

    @Test(arguments: ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "REPORT", "-odd"])
    func everyMethodIsTheSame(method: String) async throws {
        try await expectSameRequest { session, server in
            session.request(server.url("/anything"), method: HTTPMethod(rawValue: method))
        }
        guard method != "GET", method != "HEAD" else { return }
        try await expectSameRequest { session, server in
            session.request(
                server.url("/anything"), method: HTTPMethod(rawValue: method), parameters: ["a": "it's"],
                encoder: JSONParameterEncoder.default)
        }
    }

    @Test(arguments: hostileTexts)
    func hostileTextsSurvive(text: String) async throws {
        try await expectSameRequest { session, server in
            session.request(
                server.url("/anything"), method: .post, parameters: [text: text],
                encoder: URLEncodedFormParameterEncoder.default, headers: ["X-Test": text, "Cookie": text])
        }
        try await expectSameRequest { session, server in
            session.request(server.url("/anything"), parameters: [text: text], headers: ["-x": text])
        }
        try await expectSameRequest { session, server in
            session.request(server.url("/anything"), method: .put) { $0.httpBody = Data("\(text)\n\n\(text)".utf8) }
        }
    }

    @Test(arguments: hostileTexts)
    func hostileTextsSurviveInJSONAndForms(text: String) async throws {
        try await expectSameRequest { session, server in
            session.request(
                server.url("/anything"), method: .patch, parameters: [text: [text]],
                encoder: JSONParameterEncoder.default)
        }
        try await expectSameRequest { session, server in
            session.upload(
                multipartFormData: { form in
                    form.append(Data(text.utf8), withName: text)
                    form.append(Data("\(text)\r\n--".utf8), withName: "b", fileName: text, mimeType: "text/plain")
                }, to: server.url("/anything"))
        }
    }

    @Test func formsWithBinaryPartsAreTheSame() async throws {
        let directory = try ScratchDirectory()
        let file = directory.url.appending(path: "it's.png")
        try Data((0...255).map { UInt8($0) }).write(to: file)
        try await expectSameRequest { session, server in
            session.upload(
                multipartFormData: { form in
                    form.append(file, withName: "portrait")
                    form.append(Data([0, 13, 10, 255]), withName: "@bytes")
                }, to: server.url("/anything"), method: .put)
        }
    }

    @Test(arguments: [
        Data((1...255).map { UInt8($0) }), Data((0...255).map { UInt8($0) }), Data("@/etc/passwd".utf8),
        Data("-d x".utf8), Data(String(repeating: "it's ü\n", count: 15_000).utf8),
        Data(repeating: UInt8(ascii: "a"), count: 1_100_000), Data("short\r\n".utf8), Data(),
    ])
    func everyBodyIsTheSame(body: Data) async throws {
        try await expectSameRequest { session, server in
            session.request(server.url("/anything"), method: .post) { $0.httpBody = body }
        }
        try await expectSameRequest { session, server in
            session.upload(body, to: server.url("/anything"), method: .put, headers: ["Content-Type": "x/y"])
        }
    }

    @Test func bodiesAreReadFromTheirFiles() async throws {
        let directory = try ScratchDirectory()
        let file = directory.url.appending(path: "it's $(a) @file [1] ü")
        try Data([0, 255, 10, 13, 0]).write(to: file)
        try await expectSameRequest { session, server in session.upload(file, to: server.url("/anything")) }
    }

    @Test func bodiesOfStreamsAreReadFromTheStandardInput() async throws {
        let body = Data("streamed\u{0}".utf8)
        try await expectSameRequest(input: body, ignoring: ["transfer-encoding", "content-length"]) { session, server in
            session.upload(InputStream(data: body), to: server.url("/anything"))
        }
    }

    @Test(arguments: [
        "/anything/../b/./c", "/anything/[1-3]{a,b}", "/anything/a%20b?x=%5B1-2%5D&y='z'", "/anything/?q=$x;`y`#part",
        "/anything?",
    ])
    func urlsAreNotChanged(path: String) async throws {
        try await expectSameRequest(at: String(path.prefix { $0 != "?" && $0 != "#" })) { session, server in
            session.request(server.url.absoluteString + path)
        }
    }

    @Test func credentialsInTheURLAreTheSame() async throws {
        for headers in [nil, ["Authorization": "Bearer x"]] as [HTTPHeaders?] {
            try await expectSameRequest { session, server in
                let address = server.url("/headers").absoluteString.replacing("://", with: "://ada:p%40s%27s@")
                return session.request(address, headers: headers)
            }
        }
    }

    @Test func theRequestsHeadersOverrideTheSessions() async throws {
        try await expectSameRequest { session, server in
            session.request(
                server.url("/anything"),
                headers: ["x-session": "mine", "User-Agent": "me", "Accept-Encoding": "gzip", "Accept": "text/plain"])
        }
    }

    @Test func curlAddsNoHeaders() async throws {
        let server = try await TestServer.start()
        var configuration = SessionConfiguration.default
        configuration.headers = []
        let session = Session(configuration: configuration)
        let request = session.request(server.url("/anything"), method: .post) { $0.httpBody = Data("x".utf8) }
        _ = await request.serializingData().response
        let wanted = ReceivedRequest(try #require(server.lastRequest(path: "/anything")), ignoring: [])
        _ = try await Tool.sh(request.cURLDescription())
        #expect(server.requestCount == 2)
        #expect(ReceivedRequest(try #require(server.lastRequest(path: "/anything")), ignoring: []) == wanted)
        #expect(!wanted.headers.contains { $0.hasPrefix("user-agent") || $0.hasPrefix("content-type") })
        await server.stop()
    }

    @Test func compressedResponsesAreReadable() async throws {
        let server = try await TestServer.start()
        let request = AF.request(server.url("/gzip"))
        let wanted = try await request.serializingData().value
        let outcome = try await Tool.sh(request.cURLDescription())
        #expect(outcome.status == 0)
        let keys = { (data: Data) in try (JSONSerialization.jsonObject(with: data) as? [String: Any])?.keys.sorted() }
        #expect(try keys(outcome.output) == keys(wanted))
        await server.stop()
    }

    @Test func aRequestThatCannotBeSentHasNoCommand() async throws {
        let server = try await TestServer.start()
        let session = Session()
        let requests = [
            session.request(server.url("/anything")) { $0.httpBody = Data("a body in a GET".utf8) },
            session.request(server.url("/anything"), headers: ["Content-Length": "5"]),
            session.request("ftp://127.0.0.1/'\n$(exit 1)"),
            session.request("file:///etc/passwd"),
            session.request(""),
        ]
        for request in requests {
            #expect(await request.serializingData().response.error != nil)
            let text = request.cURLDescription()
            #expect(text.hasPrefix("# No curl command"))
            #expect(!text.contains("\n"))
            let outcome = try await Tool.sh(text)
            #expect(outcome.status == 0)
            #expect(outcome.text.isEmpty && outcome.errors.isEmpty)
        }
        #expect(server.requestCount == 0)
        await server.stop()
    }
}
