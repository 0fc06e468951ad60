import AfarTestServer
import Foundation
import Testing

@Suite(.timeLimit(.minutes(1)))
struct EchoTests {
    @Test(arguments: ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "QUERY", "odd"])
    func echoesAnyMethod(method: String) async throws {
        try await withServer { server in
            let answer = try await Curl.get(server.url("/anything/a%20b?x=1&x=2&y=%26+z"), "-X", method)
            let json = try answer.json
            #expect(json["method"] as? String == method)
            #expect(json["path"] as? String == "/anything/a%20b")
            #expect(json["query"] as? String == "x=1&x=2&y=%26+z")
            let arguments = try #require(json["args"] as? [String: Any])
            #expect(arguments["x"] as? [String] == ["1", "2"])
            #expect(arguments["y"] as? String == "& z")
            #expect(json["length"] as? Int == 0)
        }
    }

    @Test func echoesHeadersInOrder() async throws {
        try await withServer { server in
            let answer = try await Curl.get(server.url("/headers"), "-H", "X-B: 1", "-H", "x-a: ü", "-H", "X-b: 2")
            let json = try answer.json
            #expect((json["headers"] as? [String: String])?["x-b"] == "1, 2")
            let list = try #require(json["headerList"] as? [[String]])
            #expect(list.suffix(3) == [["X-B", "1"], ["x-a", "ü"], ["X-b", "2"]])
        }
    }

    @Test func echoesBodies() async throws {
        try await withServer { server in
            let form = try await Curl.get(server.url("/post"), "-d", "a=1&a=2&b=%C3%BC").json
            let fields = try #require(form["form"] as? [String: Any])
            #expect(fields["a"] as? [String] == ["1", "2"] && fields["b"] as? String == "ü")
            let type = "Content-Type: application/json"
            let text = #"{"a":[1,"b",null]}"#
            let json = try await Curl.get(server.url("/put"), "-X", "PUT", "-H", type, "-d", text).json
            #expect((json["json"] as? [String: Any])?["a"] as? [AnyHashable] == [1, "b", NSNull()])
            let binary = try await Curl.get(
                server.url("/patch"), "-X", "PATCH", "--data-binary", "@-", input: Data([0, 255])
            ).json
            #expect(binary["data"] is NSNull)
            #expect(binary["dataBase64"] as? String == "AP8=")
        }
    }

    @Test(arguments: ["get": "GET, HEAD", "post": "POST", "put": "PUT", "patch": "PATCH", "delete": "DELETE"])
    func rejectsOtherMethods(path: String, allowed: String) async throws {
        try await withServer { server in
            let answer = try await Curl.get(server.url(path), "-X", "QUERY")
            #expect(answer.status == 405)
            #expect(answer.values("Allow") == [allowed])
        }
    }

    @Test func answersHeadWithTheHeadOfGet() async throws {
        try await withServer { server in
            let answer = try await Curl.get(server.url("/get"), "--head")
            #expect(answer.status == 200)
            #expect(answer.body.isEmpty)
            #expect(Int(answer.values("Content-Length").first ?? "") ?? 0 > 0)
        }
    }

    @Test func countsUploads() async throws {
        try await withServer { server in
            let body = PseudoRandomBytes.bytes(3_000_001, seed: 1)
            for framing in ["Transfer-Encoding: chunked", "X-Framing: length"] {
                let options = ["--data-binary", "@-", "-H", framing]
                let json = try await Curl.get(server.url("/upload"), options, input: body).json
                #expect(json["bytes"] as? Int == 3_000_001)
                #expect(json["checksum"] as? String == BodyChecksum(body).hex)
            }
        }
    }

    @Test func countsHugeUploadsWithoutStoringThem() async throws {
        try await withServer { server in
            let path = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).upload").path
            defer { try? FileManager.default.removeItem(atPath: path) }
            #expect(FileManager.default.createFile(atPath: path, contents: nil))
            let length = 256 << 20
            #expect(truncate(path, length) == 0)
            let answer = try await Curl.get(server.url("/upload"), "-T", path)
            #expect(try answer.json["bytes"] as? Int == length)
            #expect(server.lastRequest(path: "/upload")?.body.count == ServerRequest.bodyLimit)
        }
    }
}
