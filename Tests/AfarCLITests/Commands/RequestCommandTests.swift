import AfarTestServer
import Foundation
import Testing

@testable import AfarCLI

/// Requests without a command, request items, and the short options of curl.
@Suite(.timeLimit(.minutes(10)))
struct RequestCommandTests {
    /// What arrives at the server's `/anything`.
    private struct Arrival {
        let method: String
        let path: String
        let query: String
        let headers: [String: String]
        let data: String

        init(_ outcome: Tool.Outcome) throws {
            let echo = try outcome.json()
            method = echo["method"] as? String ?? ""
            path = echo["path"] as? String ?? ""
            query = echo["query"] as? String ?? ""
            headers = echo["headers"] as? [String: String] ?? [:]
            data = echo["data"] as? String ?? ""
        }
    }

    private func arrival(_ arguments: [String], at path: String = "/anything") async throws -> Arrival {
        let server = try await TestServer.start()
        let url = server.url(path).absoluteString
        let outcome = try await Tool.run(arguments.map { $0 == "URL" ? url : $0 })
        #expect(outcome.status == 0, "\(outcome.errors)")
        return try Arrival(outcome)
    }

    @Test(arguments: [
        (["URL"], "GET", ""), (["URL", "a=1"], "POST", #"{"a":"1"}"#), (["PURGE", "URL"], "PURGE", ""),
        (["-X", "DELETE", "URL"], "DELETE", ""), (["URL", "-X", "delete"], "DELETE", ""),
        (["request", "OPTIONS", "URL"], "OPTIONS", ""), (["put", "URL", "a:=1"], "PUT", #"{"a":1}"#),
        (["get", "--method", "GET", "URL", "a=1"], "GET", #"{"a":"1"}"#),
        (["GET", "URL", "a=1"], "GET", #"{"a":"1"}"#),
        (["URL", "--raw", "text"], "POST", "text"), (["URL", "--raw", "@-"], "POST", ""),
        (["URL", "-d", "a=1", "-d", "b=2"], "POST", "a=1&b=2"),
        (["URL", "-da=1"], "POST", "a=1"), (["-X", "PUT", "URL", "-d", "a=1"], "PUT", "a=1"),
        (["URL", "a=1", "--json", "b=2"], "POST", #"{"b":"2","a":"1"}"#),
        (["URL", "a=1 & 2", "b:=[1]", "--as", "form"], "POST", "a=1%20%26%202&b=%5B1%5D"),
    ])
    func methodsAndBodies(arguments: [String], method: String, data: String) async throws {
        let arrival = try await arrival(arguments)
        #expect(arrival.method == method && arrival.data == data)
    }

    @Test func itemsAddToTheRequest() async throws {
        let arrival = try await arrival(
            ["URL", "X-One: 1", "Accept-Language:", "X-Empty;", "q==a b", "r==", "n[x][]:=1", "n[x][]=2"])
        #expect(arrival.query == "q=a%20b&r=")
        #expect(arrival.headers["x-one"] == "1" && arrival.headers["x-empty"] == "")
        #expect(arrival.headers["accept-language"] == nil)
        #expect(arrival.headers["content-type"] == "application/json")
        #expect(arrival.data == #"{"n":{"x":[1,"2"]}}"#)
    }

    @Test func itemsReadFiles() async throws {
        try await withTemporaryFile(Data("[1]\n".utf8)) { path in
            let arrival = try await arrival(["URL", "a=@\(path)", "b:=@\(path)", "X-One:@\(path)", "q==@\(path)"])
            #expect(arrival.data == #"{"a":"[1]\n","b":[1]}"#)
            #expect(arrival.headers["x-one"] == "[1]" && arrival.query == "q=%5B1%5D%0A")
        }
    }

    @Test func filesMakeAMultipartForm() async throws {
        try await withTemporaryFile(Data("contents".utf8)) { path in
            for arguments in [
                ["URL", "a=1", "f@\(path);type=text/x-note;filename=n.txt"],
                ["URL", "-F", "a=1", "-F", "f=@\(path);type=text/x-note;filename=n.txt"],
            ] {
                let arrival = try await arrival(arguments)
                #expect(arrival.method == "POST")
                #expect(arrival.headers["content-type"]?.hasPrefix("multipart/form-data; boundary=") == true)
                for part in [
                    "name=\"a\"\r\n\r\n1\r\n", "name=\"f\"; filename=\"n.txt\"", "Content-Type: text/x-note",
                    "\r\n\r\ncontents\r\n",
                ] { #expect(arrival.data.contains(part), "\(arrival.data)") }
            }
            let form = try await arrival(["URL", "--as", "multipart", "a=@\(path)", "b:=1"])
            #expect(
                form.data.contains("name=\"a\"\r\n\r\ncontents\r\n") && form.data.contains("name=\"b\"\r\n\r\n1\r\n"))
            let text = try await arrival(["URL", "-F", "a=<\(path)"])
            #expect(text.data.contains("name=\"a\"\r\n\r\ncontents\r\n"))
        }
    }

    @Test func shortOptionsAreThoseOfCurl() async throws {
        let short = try await arrival([
            "-sL", "URL", "-A", "agent/1", "-b", "a=1; b=2", "-u", "ada:secret", "--auth", "basic", "-m5", "-HX-One: 1",
            "-G", "-d", "q=1", "-d", "r=a%20b",
        ])
        #expect(short.method == "GET" && short.query == "q=1&r=a%20b" && short.data == "")
        #expect(short.headers["user-agent"] == "agent/1" && short.headers["cookie"] == "a=1; b=2")
        #expect(short.headers["x-one"] == "1" && short.headers["authorization"] == "Basic YWRhOnNlY3JldA==")
    }

    @Test func parametersOfDataCanContainAnything() async throws {
        let arrival = try await arrival(["-G", "URL", "-d", "a=1#2", "-d", "b=2"])
        #expect(arrival.query == "a=1%232&b=2")
    }

    @Test func headRequestsPrintTheHead() async throws {
        let server = try await TestServer.start()
        let outcome = try await Tool.run("-I", server.url("/json").absoluteString)
        #expect(outcome.text.hasPrefix("HTTP/1.1 200 OK\n") && outcome.text.hasSuffix("\n\n"))
        #expect(server.lastRequest(path: "/json")?.method == "HEAD")
    }

    @Test func cookiesComeFromFilesThatDontChange() async throws {
        let server = try await TestServer.start()
        let directory = try ScratchDirectory()
        let jar = directory.url.appending(path: "jar.txt").path
        let set = server.url("/cookies/set?a=1").absoluteString
        #expect(try await Tool.run(set, "-c", jar, "--no-follow").status == 0)
        let saved = try String(contentsOfFile: jar, encoding: .utf8)
        #expect(saved.contains("\ta\t1"))
        #expect(try await Tool.run(server.url("/cookies/set?b=2").absoluteString, "-b", jar, "-L").status == 0)
        let outcome = try await Tool.run(server.url("/cookies").absoluteString, "-b", jar)
        #expect(try outcome.json()["cookies"] as? [String: String] == ["a": "1"])
        #expect(try String(contentsOfFile: jar, encoding: .utf8) == saved)
        let missing = try await Tool.run(set, "-b", jar + ".missing")
        #expect(missing.status == 0 && missing.errors.contains("--cookie"))
    }

    // MARK: Files for bodies

    @Test func bodiesAreWrittenToFiles() async throws {
        let server = try await TestServer.start()
        let directory = try ScratchDirectory()
        let file = directory.url.appending(path: "body")
        try Data(repeating: 0, count: 1_000_000).write(to: file)
        for command in [[], ["post", "--raw", "x"], ["--stream"]] {
            let outcome = try await Tool.run(command + [server.url("/bytes/100000").absoluteString, "-o", file.path])
            #expect(outcome.status == 0 && outcome.text == "", "\(outcome.errors)")
            #expect(try Data(contentsOf: file).count == 100_000)
        }
        let remote = try await Tool.bash(
            "cd '\(directory.url.path)' && \"$afar\" -iO '\(server.url("/bytes/7?x=1").absoluteString)'")
        #expect(remote.text.hasPrefix("HTTP/1.1 200 OK\n"))
        #expect(try Data(contentsOf: directory.url.appending(path: "7")).count == 7)
    }

    @Test func filesAreKeptWithoutAResponse() async throws {
        let port = try ClosedPort()
        let directory = try ScratchDirectory()
        let (old, new) = (directory.url.appending(path: "old"), directory.url.appending(path: "new"))
        try Data("kept".utf8).write(to: old)
        for file in [old, new] { #expect(try await Tool.run(port.url.absoluteString, "-o", file.path).status == 3) }
        #expect(try Data(contentsOf: old) == Data("kept".utf8))
        #expect(!FileManager.default.fileExists(atPath: new.path))
        let outcome = try await Tool.run(port.url.absoluteString, "-o", "/no/such/folder/file")
        #expect(outcome.status == 2 && outcome.errors.contains("/no/such/folder/file"))
    }

    @Test func aFullDiskIsReported() async throws {
        let server = try await TestServer.start()
        let outcome = try await Tool.run(server.url("/bytes/100000").absoluteString, "-o", "/dev/full")
        #expect(outcome.status == 70 && outcome.errors.contains("o space left"))
    }

    // MARK: Contradictions

    @Test(arguments: [
        (["get", "x", "a=1"], "--method GET"), (["-G", "x", "a=1"], "--method GET"), (["-I", "x", "a=1"], "HEAD"),
        (["-I", "-X", "GET", "x"], "-I and --method"), (["post", "-X", "PUT", "x"], "Choose one"),
        (["GET", "-X", "PUT", "x"], "Choose one"), (["x", "a=1", "-d", "b=2"], "request items and --data"),
        (["x", "a=1", "--form", "b=2"], "request items and --form"), (["x", "y"], "request item"),
        (["purge", "x"], "-X PURGE"), (["x", "f@/no/such/file"], "/no/such/file"),
        (["x", "--as", "json", "f@/etc/hostname"], "--as multipart"), (["x", "-o", "a", "-O"], "--remote-name"),
        (["x", "--as", "xml", "a=1"], "json"), (["-X", "", "x"], "--method"),
        (["x", "--stream", "-F", "a=1"], "multipart"),
        (["x", "--sse", "-o", "f"], "--output"),
    ])
    func contradictionsAreUsageFailures(arguments: [String], word: String) async throws {
        let outcome = try await Tool.run(arguments)
        #expect(outcome.status == 2 && outcome.errors.contains(word), "\(outcome.errors)")
    }
}
