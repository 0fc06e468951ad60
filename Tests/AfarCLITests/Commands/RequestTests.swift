import AfarTestServer
import Foundation
import Testing

/// The requests that the tool sends, as received by the server.
struct RequestTests {
    @Test(arguments: ["get", "post", "put", "patch", "delete"], ["curl", "urlsession"])
    func everyCommandSendsItsMethod(command: String, transport: String) async throws {
        let server = try await TestServer.start()
        let outcome = try await Tool.run(command, server.url("/\(command)").absoluteString, "--transport", transport)
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(try outcome.json()["method"] as? String == command.uppercased())
        #expect(outcome.errors == "")
    }

    @Test func headPrintsTheHead() async throws {
        let server = try await TestServer.start()
        let outcome = try await Tool.run("head", server.url("/json").absoluteString)
        #expect(outcome.status == 0)
        #expect(outcome.text.hasPrefix("HTTP/1.1 200 OK\n"))
        #expect(outcome.text.contains("\nContent-Type: application/json\n"))
        #expect(outcome.text.hasSuffix("\n\n"))
        #expect(server.lastRequest(path: "/json")?.method == "HEAD")
    }

    @Test func headersAreSentAndThoseWithTheSameNameJoined() async throws {
        let server = try await TestServer.start()
        let outcome = try await Tool.run(
            "get", server.url("/headers").absoluteString, "-H", "X-One: 1", "-H", "x-empty;", "-H", "accept-language:",
            "--header", "X-Two:a:b",
            "-H", "X-One: 2", "-H", "Cookie: a=1", "-H", "Cookie: b=2")
        let headers = try #require(try outcome.json()["headers"] as? [String: String])
        #expect(headers["x-one"] == "1, 2")
        #expect(headers["x-two"] == "a:b")
        #expect(headers["x-empty"] == "" && headers["accept-language"] == nil)
        #expect(headers["cookie"] == "a=1; b=2")
    }

    @Test func queryIsEscapedAndAddedInOrder() async throws {
        let server = try await TestServer.start()
        let outcome = try await Tool.run(
            "get", server.url("/get?first=%20").absoluteString, "--query", "b=1 & 2", "--query", "a=ü+=", "--query",
            "b=-3")
        #expect(try outcome.json()["query"] as? String == "first=%20&b=1%20%26%202&a=%C3%BC%2B%3D&b=-3")
    }

    @Test func theSchemeIsOptional() async throws {
        let server = try await TestServer.start()
        let outcome = try await Tool.run("get", "127.0.0.1:\(server.url.port ?? 0)/anything/ü")
        #expect(try outcome.json()["path"] as? String == "/anything/%C3%BC")
    }

    @Test func jsonMembersKeepTheirOrder() async throws {
        let server = try await TestServer.start()
        let outcome = try await Tool.run(
            "post", server.url("/post").absoluteString, "--json", "z=a \"b\"", "--json", "a:=[1, 2.50]", "--json", "m=")
        let echo = try outcome.json()
        #expect(echo["data"] as? String == #"{"z":"a \"b\"","a":[1, 2.50],"m":""}"#)
        #expect((echo["headers"] as? [String: String])?["content-type"] == "application/json")
    }

    @Test func formIsEscaped() async throws {
        let server = try await TestServer.start()
        let outcome = try await Tool.run(
            "put", server.url("/put").absoluteString, "--form", "name=Ada & Co", "--form", "tag=1", "--form", "tag=2")
        let echo = try outcome.json()
        #expect(echo["form"] as? NSDictionary == ["name": "Ada & Co", "tag": ["1", "2"]])
    }

    @Test func dataIsSentAsText() async throws {
        let server = try await TestServer.start()
        let outcome = try await Tool.run("patch", server.url("/patch").absoluteString, "--raw", "-v is a text")
        let echo = try outcome.json()
        #expect(echo["data"] as? String == "-v is a text")
        #expect((echo["headers"] as? [String: String])?["content-type"] == "text/plain; charset=utf-8")
    }

    @Test(arguments: ["afar", "urlsession"])
    func dataIsReadFromAFile(transport: String) async throws {
        let server = try await TestServer.start()
        let bytes = Data((0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })
        try await withTemporaryFile(bytes) { path in
            let outcome = try await Tool.run(
                "post", server.url("/post").absoluteString, "--raw", "@\(path)", "--transport", transport, "-H",
                "Content-Type: image/x-test")
            let echo = try outcome.json()
            #expect(echo["dataBase64"] as? String == bytes.base64EncodedString())
            #expect((echo["headers"] as? [String: String])?["content-type"] == "image/x-test")
        }
    }

    @Test func dataIsReadFromTheStandardInput() async throws {
        let server = try await TestServer.start()
        let outcome = try await Tool.run(
            "post", server.url("/post").absoluteString, "--raw", "-", input: Data(#" {"a": 1}"#.utf8))
        let echo = try outcome.json()
        #expect(echo["json"] as? NSDictionary == ["a": 1])
        #expect(echo["length"] as? Int == 9)
    }
}
