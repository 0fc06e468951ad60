import AfarCore
import AfarSerializers
import AfarTesting
import Foundation
import HTTPTypes
import TestSupport
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The base URL, the encoder and the validation of a session.
@Suite struct SessionDefaultsTests {
    private func session(
        status: Int = 200, _ configure: (inout SessionConfiguration) -> Void
    ) -> (Session, MockTransport) {
        var configuration = SessionConfiguration()
        configure(&configuration)
        let transport = MockTransport { _ in .text("body", status: status) }
        return (Session(configuration: configuration, transport: transport), transport)
    }

    // MARK: Base URL

    /// The examples of RFC 3986, sections 5.4.1 and 5.4.2. A request contains no fragment.
    @Test(
        arguments: [
            ("g", "/b/c/g"), ("./g", "/b/c/g"), ("g/", "/b/c/g/"), ("/g", "/g"), ("//g", "http://g/"),
            ("?y", "/b/c/d;p?y"), ("g?y", "/b/c/g?y"), ("#s", "/b/c/d;p?q"), ("g#s", "/b/c/g"), ("g?y#s", "/b/c/g?y"),
            (";x", "/b/c/;x"), ("g;x", "/b/c/g;x"), ("g;x?y#s", "/b/c/g;x?y"), (".", "/b/c/"), ("./", "/b/c/"),
            ("..", "/b/"), ("../", "/b/"), ("../g", "/b/g"), ("../..", "/"), ("../../", "/"), ("../../g", "/g"),
            ("../../../g", "/g"), ("/./g", "/g"), ("/../g", "/g"), ("g.", "/b/c/g."), (".g", "/b/c/.g"),
            ("g..", "/b/c/g.."), ("./../g", "/b/g"), ("./g/.", "/b/c/g/"), ("g/./h", "/b/c/g/h"),
            ("g/../h", "/b/c/h"), ("g;x=1/./y", "/b/c/g;x=1/y"), ("g;x=1/../y", "/b/c/y"),
            ("g?y/./x", "/b/c/g?y/./x"), ("g?y/../x", "/b/c/g?y/../x"), ("https://other/x", "https://other/x"),
        ]) func relativeURLsAreResolved(reference: String, expected: String) async throws
    {
        let (session, transport) = session { $0.baseURL = URL(string: "http://a/b/c/d;p?q") }
        _ = await session.request(reference).serializingData().response
        let url = try #require(transport.requests.first?.url)
        #expect(url == (expected.hasPrefix("http") ? expected : "http://a\(expected)"))
    }

    @Test func parametersAndEscapesAreKept() async throws {
        let (session, transport) = session { $0.baseURL = URL(string: "https://api.test/v1/") }
        _ = await session.request("a%2Fb/ü?x=%C3%BC", parameters: ["y": "1"]).serializingData().response
        _ = await session.request("100%", parameters: ["y": 1]).serializingData().response
        _ = await session.request(URLRequest(url: try #require(URL(string: "c")))).serializingData().response
        _ = await session.request("https://other.test/a/../b|c").serializingData().response
        #expect(
            transport.requests.map(\.url) == [
                "https://api.test/v1/a%2Fb/%C3%BC?x=%C3%BC&y=1", "https://api.test/v1/100%25?y=1",
                "https://api.test/v1/c", "https://other.test/a/../b|c",
            ])
    }

    @Test func allKindsOfRequestsAreResolved() async throws {
        let (session, transport) = session { $0.baseURL = URL(string: "https://api.test/v1/") }
        _ = await session.upload(Data([1]), to: "up").serializingData().response
        _ = await session.download("down").serializingData().response
        for await _ in session.streamRequest("stream").streamTask().streamingData() {}
        #expect(transport.requests.map(\.path) == ["/v1/up", "/v1/down", "/v1/stream"])
    }

    @Test func withoutABaseARelativeURLFails() async throws {
        let (session, _) = session { _ in }
        let error = await session.request("users/1").serializingData().response.error
        #expect(error?.isInvalidURLError == true)
    }

    // MARK: Encoder

    private struct Query: Encodable, Sendable { var a: [Int] }

    @Test func theEncoderIsForMethodsWithABody() async throws {
        let (session, transport) = session { $0.encoder = JSONParameterEncoder.default }
        let url = "http://mock.test/"
        _ = await session.request(url, method: .post, parameters: Query(a: [1])).serializingData().response
        _ = await session.request(url, parameters: Query(a: [1])).serializingData().response
        _ = await session.request(
            url, method: .post, parameters: Query(a: [1]), encoder: URLEncodedFormParameterEncoder.default
        ).serializingData().response
        _ = await session.download(url, method: .put, parameters: Query(a: [1])).serializingData().response
        #expect(transport.requests.map(\.target) == ["/", "/?a%5B%5D=1", "/", "/"])
        #expect(
            transport.requests.map { String(decoding: $0.body, as: UTF8.self) } == [
                "{\"a\":[1]}", "", "a%5B%5D=1", "{\"a\":[1]}",
            ])
    }

    /// A literal selects the overload for dictionaries.
    @Test func dictionariesAreEncodedLikeEncodableValues() async throws {
        let (session, transport) = session { $0.encoder = JSONParameterEncoder.sortedKeys }
        let url = "http://mock.test/"
        _ = await session.request(url, method: .post, parameters: ["a": "b"]).serializingData().response
        let nested: Parameters = [
            "a": [1, "b", NSNull(), ["c": true] as [String: any Sendable]] as [any Sendable],
            "d": Date(timeIntervalSinceReferenceDate: 7),
            "e": NSNumber(value: 2.5), "f": ["g": "h"],
        ]
        _ = await session.request(url, method: .post, parameters: nested).serializingData().response
        _ = await session.request(url, parameters: ["a": "b"]).serializingData().response
        _ = await session.request(
            url, method: .post, parameters: ["a": "b"], encoding: URLEncoding.default
        ).serializingData().response
        _ = await session.download(url, method: .put, parameters: ["a": "b"]).serializingData().response
        #expect(transport.requests.map(\.target) == ["/", "/", "/?a=b", "/", "/"])
        #expect(
            transport.requests.map { String(decoding: $0.body, as: UTF8.self) } == [
                #"{"a":"b"}"#, #"{"a":[1,"b",null,{"c":true}],"d":7,"e":2.5,"f":{"g":"h"}}"#, "", "a=b", #"{"a":"b"}"#,
            ])
    }

    @Test func dictionariesWithOtherValuesAreErrors() async throws {
        struct Opaque: Sendable {}
        let (session, _) = session { $0.encoder = JSONParameterEncoder.default }
        let error = await session.request("http://mock.test/", method: .post, parameters: ["a": Opaque()])
            .serializingData().response.error
        #expect(error?.localizedDescription.contains("Opaque") == true)
    }

    @Test func aDestinationCanBeAFile() async throws {
        let (session, _) = session(status: 200) { _ in }
        let file = FileManager.default.temporaryDirectory.appending(path: "afar-\(UUID().uuidString)/file")
        defer { try? FileManager.default.removeItem(at: file.deletingLastPathComponent()) }
        let request = session.download(
            "http://mock.test/", method: .post, parameters: ["a": "b"], to: DownloadRequest.destination(file))
        #expect(await request.serializingDownloadedFileURL().response.value == file)
    }

    @Test func anotherFormEncoderIsForAllMethods() async throws {
        let (session, transport) = session {
            $0.encoder = URLEncodedFormParameterEncoder(encoder: URLEncodedFormEncoder(arrayEncoding: .noBrackets))
        }
        _ = await session.request("http://mock.test/", parameters: Query(a: [1, 2])).serializingData().response
        #expect(transport.requests.map(\.query) == ["a=1&a=2"])
        let webSocket = session.webSocketRequest(to: "http://mock.test/", parameters: Query(a: [1, 2]))
        webSocket.resume()
        try await waitWhile { !webSocket.isFinished }
        #expect(webSocket.request?.url?.query == "a=1&a=2")
    }

    // MARK: Validation

    @Test func theValidationAppliesToRequestsWithoutTheirOwn() async throws {
        let (session, _) = session(status: 404) { $0.validation = .standard }
        let url = "http://mock.test/"
        #expect(await session.request(url).serializingData().response.error?.responseCode == 404)
        #expect(await session.download(url).serializingData().response.error?.responseCode == 404)
        #expect(await session.upload(Data(), to: url).serializingData().response.error?.responseCode == 404)
        #expect(await session.request(url).validate(statusCode: [404]).serializingData().response.error == nil)
        var error: AFError?
        for await event in session.streamRequest(url).streamTask().streamingData() { error = event.completion?.error }
        #expect(error?.responseCode == 404)
    }

    @Test func aValidationCanBeAClosureOrStatusCodes() async throws {
        struct Refusal: Error {}
        let url = "http://mock.test/"
        var (session, _) = session { $0.validation = ResponseValidation { _, _ in .failure(Refusal()) } }
        let error = await session.request(url).serializingData().response.error
        #expect(error?.underlyingError is Refusal)
        (session, _) = self.session(status: 201) { $0.validation = .statusCode([200]) }
        #expect(await session.request(url).serializingData().response.error?.responseCode == 201)
        (session, _) = self.session(status: 404) { _ in }
        #expect(await session.request(url).serializingData().response.error == nil)
    }

    // MARK: Downloads to a file

    @Test func aDownloadReplacesAFile() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "a/b.txt")
        let session = Session(transport: MockTransport { .text($0.path) })
        for path in ["/1", "/2"] {
            let response = await session.download("http://mock.test\(path)", to: file).serializingString().response
            #expect(response.value == path)
            #expect(response.fileURL == file)
            #expect(try String(contentsOf: file, encoding: .utf8) == path)
        }
        let request = URLRequest(url: try #require(URL(string: "http://mock.test/3")))
        #expect(await session.download(request, to: file).serializingString().response.value == "/3")
        // The overload doesn't make a missing destination ambiguous.
        #expect(await session.download(request, to: nil).serializingString().response.value == "/3")
    }
}
