import AfarCore
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
    func patternsFitURLs(pattern: String, path: String, fits: Bool) async {
        let mock = MockTransport(stubs: [Stub(.get, pattern, .status(200))])
        let error = await failure { _ = try await mock.send(.to(path)) }
        #expect((error == nil) == fits)
    }

    @Test func responsesComeInOrderAndTheLastStays() async throws {
        let mock = MockTransport(stubs: [Stub(.get, "/", .status(503), .status(200))])
        for expected in [503, 200, 200] { #expect(try await mock.send(.to("/")).head.status == expected) }
        #expect(mock.requests.count == 3)
    }

    @Test func whatNoStubFitsIsRefusedAndToldWithTheStubs() async throws {
        let mock = MockTransport(stubs: [Stub(.post, "/orders", .status(201)), Stub(nil, "/any", .status(204))])
        let error = try #require(await failure { _ = try await mock.send(.to("/orders")) })
        #expect(error.code == .invalidUse)
        #expect(error.message.contains("GET http://mock.test/orders"))
        #expect(error.message.contains("POST /orders, any method /any"))
        #expect(try await mock.send(.to("/any") { $0.request.method = .delete }).head.status == 204)
        #expect(mock.unusedStubs.map(\.description) == ["POST /orders"])
        let empty = await failure { _ = try await MockTransport(stubs: []).send(.to("/")) }
        #expect(empty?.message.contains("no stubs") == true)
    }

    @Test func bodiesAndConditionsDecide() async throws {
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
        #expect(error?.message.contains(#"POST / with the body {"a":1,"b":2}"#) == true)
        #expect(error?.message.contains("POST / as an administrator") == true)
    }

    @Test func closuresAnswerWithWhatStandsForThePlaces() async throws {
        let mock = MockTransport(stubs: [
            Stub(.get, "/users/{id}/{what}") { request in
                .text("\(request.parameters["id"] ?? "?") \(request.parameters["what"] ?? "?")")
            }
        ])
        #expect(try await mock.send(.to("/users/7/a%20b")).text == "7 a b")
        #expect(mock.unusedStubs.isEmpty)
    }
}
