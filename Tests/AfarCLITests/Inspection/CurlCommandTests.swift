import AfarCore
import AfarTestServer
import AfarTransport
import ArgumentParser
import Foundation
import Testing

@testable import AfarCLI

/// Runs the output of `--curl` in a shell with the real curl.
struct CurlCommandTests {
    /// The request that the server received, without the headers by which curl and the tool identify themselves.
    private struct Request: Equatable {
        var method: String
        var target: String
        var body: Data
        var headers: [String: String]

        init(_ request: ServerRequest) {
            (method, target, body) = (request.method, request.target, request.body)
            let own = ["user-agent", "accept-encoding", "accept-language"]
            headers = Dictionary(
                request.headers.fields.filter { !own.contains($0.name.lowercased()) }.map { ($0.name, $0.value) },
                uniquingKeysWith: { "\($0)\n\($1)" })
        }
    }

    private func expectSameRequest(
        _ command: String, _ options: [String], input: Data? = nil, location: SourceLocation = #_sourceLocation
    ) async throws {
        let server = try await TestServer.start()
        let arguments = [command, server.url("/anything").absoluteString] + options
        let sent = try await Tool.run(arguments, input: input)
        #expect(sent.status == 0, "\(sent.errors)", sourceLocation: location)
        let wanted = Request(try #require(server.lastRequest(path: "/anything"), sourceLocation: location))

        let printed = try await Tool.run(arguments + ["--curl", "--show-secrets"], input: input)
        #expect(printed.errors == "", sourceLocation: location)
        #expect(server.requestCount == 1, "--curl sends nothing", sourceLocation: location)
        let outcome = try await Tool.sh(printed.text)
        #expect(outcome.status == 0, "\(printed.text)\n\(outcome.errors)", sourceLocation: location)
        #expect(server.requestCount == 2, sourceLocation: location)
        let request = Request(try #require(server.lastRequest(path: "/anything"), sourceLocation: location))
        #expect(request == wanted, "\(printed.text)", sourceLocation: location)
    }

    @Test(arguments: ["get", "head", "post", "put", "patch", "delete"])
    func everyMethodIsTheSame(command: String) async throws {
        try await expectSameRequest(command, [])
        if command != "get", command != "head" {
            try await expectSameRequest(command, ["--json", "a=it's \"x\"", "--json", "b:=[1]"])
        }
    }

    @Test(arguments: [
        #"it's "quoted" \"#, "$HOME $(exit 1) `id` !! ; & | > < * ~ #", "tab\there", "ü 日本語 \u{1F600}", "",
        "@/etc/passwd", "a;b:c", "%{http_code} %s \\n",
    ])
    func hostileTextsSurvive(text: String) async throws {
        try await expectSameRequest(
            "post", ["-H", "X-Test: \(text)", "-H", "Cookie: \(text)", "--raw", "-"],
            input: Data("\(text)\n\n\(text)".utf8))
        try await expectSameRequest("put", ["--form", "a=\(text)", "--query", "q\(text)=\(text)"])
        try await expectSameRequest("patch", ["--json", "a\(text)=\(text)"])
    }

    @Test(arguments: [
        "/anything/../b/./c", "/anything/[1-3]{a,b}", "/anything/a%20b?x=%5B1-2%5D&y='z'", "/anything/?q=$x;`y`",
    ])
    func urlsAreNotChanged(path: String) async throws {
        let server = try await TestServer.start()
        let address = server.url.absoluteString + path
        let target = try #require(try await Tool.run("get", address).json()["target"] as? String)
        #expect(target.hasPrefix("/anything/"))
        let printed = try await Tool.run("get", address, "--curl").text
        #expect(try await Tool.sh(printed).json()["target"] as? String == target, "\(printed)")
    }

    @Test func credentialsInTheURLAreTheSame() async throws {
        let server = try await TestServer.start()
        let address = server.url("/headers").absoluteString.replacing("://", with: "://ada:p%40s%27s@")
        for options in [[], ["-H", "Authorization: Bearer x"]] {
            let arguments = ["get", address] + options
            _ = try await Tool.run(arguments)
            let wanted = try #require(server.lastRequest(path: "/headers")).headers["Authorization"]
            _ = try await Tool.sh(try await Tool.run(arguments + ["--curl", "--show-secrets"]).text)
            #expect(server.requestCount(path: "/headers").isMultiple(of: 2))
            #expect(try #require(server.lastRequest(path: "/headers")).headers["Authorization"] == wanted)
        }
    }

    @Test func bodiesAreReadFromTheirFiles() async throws {
        try await withTemporaryFile(Data([0, 255, 10, 13, 0])) { path in
            try await expectSameRequest("post", ["--raw", "@\(path)"])
            let printed = try await Tool.run("post", ":1", "--raw", "@\(path)", "--curl")
            #expect(printed.text.contains("--data-binary @\(path)"))
        }
    }

    @Test(arguments: [
        Data((0...255).map { UInt8($0) }), Data(String(repeating: "it's ü\n", count: 60_000).utf8),
        Data("\r\nx\u{1B}[2J".utf8), Data("short\r\n".utf8),
    ])
    func bodiesThatCannotBeArgumentsArePiped(body: Data) async throws {
        try await expectSameRequest("post", ["--raw", "-"], input: body)
    }

    @Test func secretsAreHiddenByDefault() async throws {
        let arguments = [
            "get", "http://ada:hush1@127.0.0.1:1/", "-H", "Authorization: Bearer hush2", "-H", "Cookie: a=hush3", "-H",
            "Proxy-Authorization: Basic hush4", "--curl",
        ]
        let hidden = try await Tool.run(arguments)
        #expect(!hidden.text.contains("hush"))
        #expect(hidden.text.contains("Bearer ***"))
        #expect(hidden.text.contains("http://***@127.0.0.1:1/"))
        #expect(hidden.errors == "afar: Secrets are hidden as ***. To print them, use --show-secrets.\n")
        let shown = try await Tool.run(arguments + ["--show-secrets"])
        for number in 1...4 { #expect(shown.text.contains("hush\(number)")) }
        #expect(shown.errors == "")
    }

    private func command(_ words: [String], showsSecrets: Bool = false) throws -> String {
        let options = try RequestCommand<AnyRequest>.parse(words)
        let target = try options.target.target(hasMethod: true)
        let plan = try RequestPlan(target, options.choice, commandMethod: nil, options, options.body)
        return CurlCommand(plan, options, showsSecrets: showsSecrets).text(Redaction(showsSecrets: showsSecrets))
    }

    @Test(arguments: [
        (["password=hush", "a=b"], #"'{"password":"***","a":"b"}'"#),
        (["--json", #"{"token":"hush"}"#], #"'{"token":"***"}'"#),
        (["-d", "a=b&password=hush"], "'a=b&password=***'"), (["-d", #"{"token":"hush"}"#], #"'{"token":"***"}'"#),
        (["--raw", #"{"token":"hush"}"#], #"'{"token":"***"}'"#),
        (["--form", "a=http://ada:hush@x/"], "'a=***'"), (["--raw", "see http://ada:hush@x/"], "'see http://***@x/'"),
        (["-F", "password=hush", "-F", "a=b"], "--form-string 'password=***' --form-string a=b"),
        (["-F", #"a={"token":"hush"};type=application/json"#], #"***"#),
        (["--as", "multipart", "token=hush"], "--form-string 'token=***'"),
    ])
    func secretsInBodiesAreHidden(body: [String], part: String) throws {
        let hidden = try command([":1/"] + body)
        #expect(hidden.contains(part) && !hidden.contains("hush"), "\(hidden)")
        let shown = try command([":1/"] + body, showsSecrets: true)
        #expect(shown.contains("hush") && !shown.contains("***"), "\(shown)")
    }

    @Test func secretsInPartsOfUploadsAreHidden() async throws {
        let printed = try await Tool.run("upload", ":1/", "-F", "password=hush", "-F", "f=@/etc/passwd", "--curl")
        #expect(printed.text.contains("'password=***'") && printed.text.contains("f=@/etc/passwd;"), "\(printed.text)")
        #expect(printed.errors == "afar: Secrets are hidden as ***. To print them, use --show-secrets.\n")
    }

    @Test func filesAreNamedInsteadOfTheirSecrets() async throws {
        try await withTemporaryFile(Data(#"{"token":"hush"}"#.utf8)) { path in
            for body in [["--raw", "@\(path)"], ["--json", "@\(path)"]] {
                let printed = try command([":1/"] + body)
                #expect(printed.contains("--data-binary @\(path)") && !printed.contains("***"), "\(printed)")
            }
        }
    }

    @Test func retriesOfAllErrorsAndSilenceHaveTheirCounterparts() throws {
        let printed = try command([":1/", "--retry", "2", "--retry-all", "-sS"])
        #expect(
            printed.contains(" --retry 2 --retry-connrefused --retry-all-errors ")
                && printed.contains(" --silent --show-error "))
    }

    @Test func otherOptionsHaveTheirCounterparts() async throws {
        let printed = try await Tool.run(
            "get", ":8080/x", "--timeout", "2.5", "--check-status", "-i", "-v", "--curl", "-H", "Accept-Encoding: br")
        let options = "-H 'Accept-Encoding: br' --location --max-time 2.500 --fail-with-body --include --verbose"
        #expect(printed.text == "curl \(options) http://localhost:8080/x\n")
    }

    @Test func filesHaveTheirCounterparts() async throws {
        let folder = try ScratchDirectory()
        for (options, words) in [
            (["-o", "a b"], "--output 'a b'"), (["-O"], "--remote-name"), (["-o", "-"], nil),
            (["-o", "a", "--stream"], "--no-buffer --output a"),
        ] as [([String], String?)] {
            let printed = try await Tool.run(["get", ":8080/x", "--curl"] + options, directory: folder.url)
            let text = ["curl --compressed --location", words, "http://localhost:8080/x\n"].compactMap { $0 }
            #expect(printed.text == text.joined(separator: " "))
        }
        // curl requires a name in the URL.
        let unnamed = try await Tool.run(["get", ":8080/?x=y", "-O", "--curl"], directory: folder.url)
        #expect(unnamed.text.contains(" --output download "))
        let upload = ["upload", ":8080/", "--file", "/etc/passwd", "-o", "a", "--curl"]
        #expect(try await Tool.run(upload, directory: folder.url).text.contains(" --output a "))
        #expect(try folder.names == [], "no file is created")
    }

    @Test func passwordsAreShownOnRequest() async throws {
        let arguments = ["get", ":8080/", "-u", "ada:hush1", "-x", "http://bob:hush2@127.0.0.1:3128", "--curl"]
        let hidden = try await Tool.run(arguments)
        #expect(hidden.text.contains(" --user ada ") && !hidden.text.contains("hush"))
        let notes = hidden.errors.split(separator: "\n")
        #expect(notes.count == 2 && notes[0].contains("so curl asks for it") && notes[1].contains("hidden as ***"))
        let onlyUser = try await Tool.run("get", ":8080/", "-u", "ada:hush1", "--curl")
        #expect(onlyUser.errors.contains("so curl asks for it") && !onlyUser.errors.contains("***"))
        let shown = try await Tool.run(arguments + ["--show-secrets"])
        #expect(shown.text.contains(" --user ada:hush1 ") && shown.text.contains("http://bob:hush2@127.0.0.1:3128"))
        let variable = try await Tool.run(
            ["get", ":8080/", "-u", "ada", "--auth", "digest", "--curl", "--show-secrets"],
            environment: ["AFAR_PASSWORD": "hush3"])
        #expect(variable.text.contains(" --digest --user ada:hush3 "))
    }

    @Test func redirectsAndRetriesHaveTheirCounterparts() async throws {
        let start = "curl --compressed"
        for (options, words) in [
            ([], "--location"), (["--no-follow"], nil), (["--max-redirects", "3"], "--location --max-redirs 3"),
            (["--no-follow", "--retry", "2"], "--retry 2 --retry-connrefused"),
        ] as [([String], String?)] {
            let printed = try await Tool.run(["get", ":8080/x", "--curl"] + options)
            #expect(
                printed.text == [start, words, "http://localhost:8080/x\n"].compactMap { $0 }.joined(separator: " "))
        }
        let server = try await TestServer.start()
        let printed = try await Tool.run("get", server.url("/redirect/3").absoluteString, "--curl")
        #expect(try await Tool.sh(printed.text).json()["path"] as? String == "/get")
    }

    @Test func invalidRequestsAreNotPrinted() async throws {
        for arguments in [["http://127.1/"], ["x", "-H", "a b: c"], ["ftp://x/"], ["x", "--timing"]] {
            let outcome = try await Tool.run(["get"] + arguments + ["--curl"])
            #expect(outcome.status == 2)
            #expect(outcome.text == "")
        }
    }
}
