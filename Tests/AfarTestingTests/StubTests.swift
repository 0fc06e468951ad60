import AfarCore
import AfarSerializers
import AfarTesting
import Foundation
import HTTPTypes
import Testing

@Suite struct StubTests {
    @Test(arguments: [
        ("/users/{id}", "/users/7", true), ("/users/{id}", "/users/7?page=2", true), ("/users/{id}", "/users/", false),
        ("/users/{id}", "/users/7/posts", false), ("/files/*", "/files/a/b", true), ("/files/*", "/other", false),
        ("/", "/", true), ("http://mock.test", "/", true), ("http://MOCK.test/a", "/a", true),
        ("http://other.test/a", "/a", false), ("/a?x=1", "/a?x=1", true), ("/a?x=1", "/a?x=2", false),
        ("/a?x=1", "/a", false), ("/a", "/a/", false),
    ])
    func patternsMatchURLs(pattern: String, path: String, fits: Bool) async {
        let mock = MockTransport(stubs: [Stub(.get, pattern, .status(200))])
        let error = await failure { _ = try await mock.send(.to(path)) }
        #expect((error == nil) == fits)
    }

    @Test func queryParametersMatchInAnyOrder() async throws {
        let mock = MockTransport(stubs: [
            Stub(.get, "/a?x=1&y=b%20c", .status(201)), Stub(.get, "/a", .status(202)).withQuery(["z": "ü"]),
            Stub(.get, "/a", .status(203)).withHeader("X-Role", "admin"), Stub(.get, "/a", .status(204)),
        ])
        #expect(try await mock.send(.to("/a?y=b+c&x=1")).head.status == 201)
        #expect(try await mock.send(.to("/a?x=1&y=b%20c&z=1")).head.status == 204)
        #expect(try await mock.send(.to("/a?z=%C3%BC&x=1")).head.status == 202)
        #expect(try await mock.send(.to("/a?z=%zz&%")).head.status == 204)
        let role = try #require(HTTPField.Name("x-role"))
        #expect(try await mock.send(.to("/a") { $0.request.headerFields[role] = "admin" }).head.status == 203)
    }

    @Test func requestsAreRecordedWithTheirParameters() async throws {
        let mock = MockTransport(stubs: [Stub(.get, "/users/{id}", .status(200)), Stub(.get, "/", .status(200))])
        _ = try await mock.send(.to("/users/7"))
        _ = try await mock.send(.to("/"))
        _ = await failure { _ = try await mock.send(.to("/none")) }
        #expect(mock.requests.map(\.parameters) == [["id": "7"], [:], [:]])
        #expect(mock.requests(.get, "/users/{id}").map(\.path) == ["/users/7"])
        #expect(mock.unmatchedRequests.map(\.path) == ["/none"])
    }

    @Suite(.stubs(Stub(.get, "/suite", .text("suite")), Stub(.get, "/both", .text("suite")), allowsUnused: true))
    struct NestedTests {
        @Test(.stubs(Stub(.get, "/both", .text("test")), Stub(.get, "/test", .text("test"))))
        func aTestsStubsTakePrecedenceOverItsSuites() async throws {
            for (path, expected) in [("/suite", "suite"), ("/both", "test"), ("/test", "test")] {
                #expect(try await live.request("http://mock.test\(path)").serializingString().value == expected)
            }
            #expect(MockTransport.current?.requests.count == 3)
        }
    }

    @Test func anUnmatchedRequestFailsTheTest() async throws {
        let test = try #require(Test.current)
        let trait: StubTrait = .stubs(Stub(.get, "/", .status(200)))
        try await withKnownIssue {
            try await trait.provideScope(for: test, testCase: nil) {
                _ = await live.request("http://mock.test/").serializingData().response
                _ = await live.request("http://mock.test/none").serializingData().response
            }
        } matching: {
            "\($0)".contains("no stub matches GET http://mock.test/none, with")
        }
    }

    @Test func responsesCanHaveFilesAndFields() async throws {
        let mock = MockTransport(stubs: [
            Stub(.get, "/file", .file("Recordings/none.json", beside: "/x/y.swift")),
            Stub(.get, "/self", .file("StubTests.swift", type: "text/plain").adding("X-A", "1").adding("X-A", "2")),
            Stub(.get, "/wrong", .status(200).adding("no name", "1")),
            Stub(.get, "/offline") { _ in throw URLError(.notConnectedToInternet) },
        ])
        let missing = await failure { _ = try await mock.send(.to("/file")) }
        #expect(missing?.code == .invalidUse)
        #expect(
            missing?.message.contains("/x/Recordings/none.json can't be read") == true, "\(missing?.message ?? "")")
        let own = try await mock.send(.to("/self"))
        #expect(own.text?.contains("responsesCanHaveFilesAndFields") == true)
        #expect(own.head.values(for: try #require(HTTPField.Name("X-A"))) == ["1", "2"])
        #expect(await failure { _ = try await mock.send(.to("/wrong")) }?.message.contains("no name") == true)
        #expect(await failure { _ = try await mock.send(.to("/offline")) }?.code == .notConnected)
    }

    @Test func responsesAreReturnedInOrderAndTheLastRepeats() async throws {
        let mock = MockTransport(stubs: [Stub(.get, "/", .status(503), .status(200))])
        for expected in [503, 200, 200] { #expect(try await mock.send(.to("/")).head.status == expected) }
        #expect(mock.requests.count == 3)
    }

    @Test func anUnmatchedRequestFailsWithTheListOfStubs() async throws {
        let mock = MockTransport(stubs: [Stub(.post, "/orders", .status(201)), Stub(nil, "/any", .status(204))])
        let error = try #require(await failure { _ = try await mock.send(.to("/orders")) })
        #expect(error.code == .invalidUse)
        #expect(
            error.message == "no stub matches GET http://mock.test/orders. "
                + "The mock has: POST /orders (another method), any method /any (another path)")
        #expect(try await mock.send(.to("/any") { $0.request.method = .delete }).head.status == 204)
        #expect(mock.unusedStubs.map(\.description) == ["POST /orders"])
        let empty = await failure { _ = try await MockTransport(stubs: []).send(.to("/")) }
        #expect(empty?.message.contains("no stubs") == true)
    }

    @Test func bodiesAndConditionsAreMatched() async throws {
        let mock = MockTransport(stubs: [
            Stub(.post, "/", .text("json")).withBody(.json(["a": 1, "b": 2])),
            Stub(.post, "/", .text("text")).withBody(.text("plain")),
            Stub(.post, "/", .text("part")).withBody(.containing("needle")),
            Stub(.post, "/", .text("bytes")).withBody(.data(Data([0, 255]))),
            Stub(.post, "/", .text("header")).when("as an administrator") { $0["X-Role"] == "admin" },
        ])
        func answer(_ body: Data, role: String = "user") async throws -> String? {
            try await mock.send(
                .to("/") {
                    $0.request.method = .post
                    $0.body = .data(body)
                    if let name = HTTPField.Name("X-Role") { $0.request.headerFields[name] = role }
                }
            ).text
        }
        #expect(try await answer(Data(#"{ "b": 2, "a": 1 }"#.utf8)) == "json")
        #expect(try await answer(Data("plain".utf8)) == "text")
        #expect(try await answer(Data("a needle here".utf8)) == "part")
        #expect(try await answer(Data([0, 255])) == "bytes")
        #expect(try await answer(Data("x".utf8), role: "admin") == "header")
        let error = await failure { _ = try await answer(Data("x".utf8)) }
        #expect(
            error?.message.contains(#"POST / with the body {"a":1,"b":2} (not with the body {"a":1,"b":2})"#) == true)
        #expect(error?.message.contains("POST / as an administrator (not as an administrator)") == true)
    }

    @Test func anUnmatchedRequestIsDescribedWithoutSecrets() async throws {
        let mock = MockTransport(stubs: [
            Stub(.post, "http://other.test/login?token=t0p", .status(200)), Stub(nil, "/logout", .status(200)),
            Stub(.post, "/login?page=1", .status(200)),
            Stub(.post, "/login", .status(200)).withQuery(["page": "2"]).withHeader("X-Api-Key", "t0p"),
            Stub(.get, "/login", .status(200)),
        ])
        let error = await failure {
            _ = try await mock.send(
                .to("/login?page=2&access_token=t0p") {
                    $0.request.method = .post
                    $0.request.headerFields[.authorization] = "Bearer t0p"
                    $0.request.headerFields[.accept] = "*/*"
                    $0.body = .data(Data("see https://ada:t0p@mock.test/\n\u{1B}[2J".utf8))
                })
        }
        #expect(
            error?.message == """
                no stub matches POST http://mock.test/login?page=2&access_token=***, with the fields Authorization, Accept, \
                with the body see https://***@mock.test/ \\u001B[2J. The mock has: \
                POST /login with ?page=2 with X-Api-Key: *** (not with X-Api-Key: ***), \
                POST /login?page=1 (another query), GET /login (another method), any method /logout (another path), \
                POST http://other.test/login?token=*** (another scheme or host)
                """)
        #expect(mock.unmatchedRequests.count == 1)
    }

    @Test(
        arguments: [
            (Data(repeating: 0x61, count: 1024), String(repeating: "a", count: 1024)),
            (Data(repeating: 0x61, count: 1025), String(repeating: "a", count: 1024) + "… (1025 bytes)"),
            // The limit divides the last character.
            (
                Data(("a" + String(repeating: "é", count: 600)).utf8),
                "a" + String(repeating: "é", count: 511) + "… (1201 bytes)"
            ),
        ])
    func aLongBodyIsCutOff(body: Data, text: String) async {
        let error = await failure { _ = try await MockTransport(stubs: []).send(.to("/") { $0.body = .data(body) }) }
        #expect(
            error?.message == "no stub matches GET http://mock.test/, with the body \(text). The mock has: no stubs")
    }

    @Test(arguments: [Data([0, 1]), Data([0xFF, 0xFE, 0x80]), Data([0x61, 0xC3])])
    func aBinaryBodyIsDescribedByItsSize(body: Data) async {
        let error = await failure { _ = try await MockTransport(stubs: []).send(.to("/") { $0.body = .data(body) }) }
        #expect(error?.message.contains("with a body of \(body.count) bytes. The mock") == true)
    }

    @Test func onlyTheClosestStubsAreListed() async {
        let stubs = (0..<20).map { Stub(.get, "/\($0)", .status(200)) } + [Stub(.post, "/a", .status(200))]
        let error = await failure { _ = try await MockTransport(stubs: stubs).send(.to("/a")) }
        #expect(error?.message.contains("POST /a (another method), GET /0 (another path), GET /1") == true)
        #expect(error?.message.hasSuffix("GET /8 (another path), and 11 others") == true)
    }

    @Test func closuresReceiveThePathParameters() async throws {
        let mock = MockTransport(stubs: [
            Stub(.get, "/users/{id}/{what}") { request in
                .text("\(request.parameters["id"] ?? "?") \(request.parameters["what"] ?? "?")")
            }
        ])
        #expect(try await mock.send(.to("/users/7/a%20b")).text == "7 a b")
        #expect(mock.unusedStubs.isEmpty)
    }
}
