import Afar
import AfarTestServer
import Foundation
import TestServers
import Testing

@testable import AfarCLI

@Suite(.timeLimit(.minutes(10)))
struct ReportTests {
    private func object(_ data: Data) throws -> NSDictionary {
        try #require(try JSONSerialization.jsonObject(with: data) as? NSDictionary)
    }

    private func value(_ report: NSDictionary, _ path: String) -> Any? { report.value(forPath: path) }

    @Test func theReportIsWrittenToAFile() async throws {
        let server = try await TestServer.start()
        let directory = try ScratchDirectory()
        let outcome = try await Tool.run(
            ["get", server.url("/redirect/2").absoluteString, "--report", "a.json"], directory: directory.url)
        #expect(outcome.text.contains("\"path\":\"/get\""))
        let report = try object(directory.contents(of: "a.json"))
        #expect(report["schemaVersion"] as? Int == 1)
        #expect(report["command"] as? String == "get")
        #expect(report["method"] as? String == "GET")
        #expect(report["url"] as? String == server.url("/redirect/2").absoluteString)
        #expect(report["finalURL"] as? String == server.url("/get").absoluteString)
        #expect(report["status"] as? Int == 200)
        #expect(report["httpVersion"] as? String == "HTTP/1.1")
        #expect((report["redirects"] as? [NSDictionary])?.map { $0["status"] as? Int } == [302, 302])
        #expect(report["attempts"] as? Int == 1)
        #expect(report["remoteAddress"] as? String == "127.0.0.1:\(server.url.port ?? 0)")
        #expect(report["error"] is NSNull && report["tls"] is NSNull)
        #expect(report["exitCode"] as? Int == 0)
        #expect(try #require(value(report, "timings.total") as? Double) > 0)
        #expect(try #require(value(report, "sizes.decodedBody") as? Int) >= outcome.output.count)
    }

    @Test func aReportOnStandardOutputReplacesTheBody() async throws {
        let server = try await TestServer.start()
        let directory = try ScratchDirectory()
        for arguments in [
            ["get"], ["head"], ["post", "--json", "a=b"], ["download", "-o", "saved"], ["xml"], ["get", "--stream"],
        ] {
            let path = arguments[0] == "xml" ? "/xml" : "/anything"
            let outcome = try await Tool.run(
                [arguments[0], server.url(path).absoluteString] + arguments.dropFirst() + ["--report", "-"],
                directory: directory.url)
            #expect(outcome.status == 0, "\(outcome.errors)")
            #expect(outcome.text.filter { $0 == "\n" }.count == 1 && outcome.text.hasSuffix("}\n"))
            let report = try outcome.json()
            #expect(report["command"] as? String == arguments[0])
            #expect(report["status"] as? Int == 200)
        }
        #expect(try directory.contents(of: "saved").count > 0)
    }

    @Test func failuresAreReported() async throws {
        let server = try await TestServer.start()
        let port = try ClosedPort()
        let refused = try await Tool.run(
            "get", port.url.absoluteString, "--report", "-", "--retry", "1", "--retry-delay", "0")
        #expect(refused.status == 3)
        var report = try refused.json()
        #expect(report["exitCode"] as? Int == 3 && report["status"] is NSNull && report["attempts"] as? Int == 2)
        #expect(value(report, "error.kind") as? String == "cannotConnect")
        #expect(value(report, "error.phase") as? String == "connecting")
        #expect(refused.errors == "afar: \(try #require(value(report, "error.message") as? String))\n")

        let late = try await Tool.run(
            "get", server.url("/delay/60").absoluteString, "--timeout", "0.3", "--report", "-")
        report = try late.json()
        #expect(report["exitCode"] as? Int == 5)
        #expect(value(report, "error.kind") as? String == "timedOut")
        #expect(value(report, "error.phase") as? String == "awaitingResponse")

        let refusedStatus = try await Tool.run("get", server.url("/status/404").absoluteString, "-f", "--report", "-")
        report = try refusedStatus.json()
        #expect(refusedStatus.status == 4 && report["status"] as? Int == 404)
        #expect(value(report, "error.kind") as? String == "httpStatus")

        let usage = try await Tool.run("get", "http://a b/", "--report", "-")
        report = try usage.json()
        #expect(usage.status == 2)
        #expect(value(report, "error.kind") as? String == "invalidURL")
        #expect(report["exitCode"] as? Int == 2)
    }

    @Test(arguments: ["get", "get --stream", "upload"]) func aSignalDoesNotLoseTheReport(command: String) async throws {
        let server = try await RawServer.start([.receiveHead, .waitForever])
        let directory = try ScratchDirectory()
        try directory.write("x", to: "body")
        var words = command.split(separator: " ").map(String.init)
        words.insert(server.url.absoluteString, at: 1)
        if command == "upload" { words += ["--file", "body"] }
        let outcome = try await Tool.run(words + ["--report", "a.json"], directory: directory.url) { process in
            try await server.head()
            kill(process, SIGTERM)
        }
        #expect(outcome.status == -SIGTERM)
        let report = try object(directory.contents(of: "a.json"))
        #expect(report["exitCode"] as? Int == 143)
        #expect(value(report, "error.kind") as? String == "interrupted")
        #expect(report["url"] as? String == server.url.absoluteString)
    }

    @Test func secretsAreHidden() async throws {
        let server = try await TestServer.start()
        server.route("/secret") { _ in
            var response = ServerResponse.text("ok")
            response.headers.append("Set-Cookie", "session=Geheim1")
            return response
        }
        let url = server.url("/secret?access_token=Geheim2").absoluteString.replacing(
            "http://", with: "http://ada:Geheim3@")
        let hidden = try await Tool.run("get", url, "--report", "-")
        #expect(hidden.status == 0, "\(hidden.errors)")
        #expect(!hidden.text.contains("Geheim") && hidden.text.contains("***"))
        let shown = try await Tool.run("get", url, "--report", "-", "--show-secrets")
        #expect(shown.text.contains("Geheim1") && shown.text.contains("Geheim2"))
    }

    @Test func unusableReportsAreUsageErrors() async throws {
        let nowhere = try await Tool.run("get", ":1/x", "--report", "/nowhere/a.json")
        #expect(nowhere.status == 2)
        #expect(nowhere.errors.contains("--report: /nowhere/a.json cannot be written"), "\(nowhere.errors)")
        let curl = try await Tool.run("get", ":1/x", "--report", "a", "--curl")
        #expect(curl.status == 2 && curl.errors.contains("--curl"))
        let full = try await Tool.run("get", "localhost:1", "--report", "/dev/full")
        #expect(full.status == 70 && full.errors.contains("the report was not written"), "\(full.errors)")
    }

    // MARK: The guide

    /// Returns the paths of all members of a report. The members of `statuses` and `errors` depend on the server.
    private func paths(_ value: Any, _ path: String = "") -> Set<String> {
        switch value {
        case let object as NSDictionary where path != "statuses" && path != "errors":
            return object.reduce(into: []) { paths, member in
                let name = (path.isEmpty ? "" : path + ".") + "\(member.key)"
                paths.formUnion(self.paths(member.value, name))
            }
        case let array as NSArray where array.firstObject is NSDictionary:
            return array.reduce(into: []) { $0.formUnion(paths($1, path + "[]")) }
        default: return [path]
        }
    }

    /// Returns the members in a table of the guide.
    private func documented(_ heading: String) throws -> Set<String> {
        let guide = try Pages.text(Pages.guide)
        let section = try #require(guide.range(of: "\n\(heading)\n").map { guide[$0.upperBound...] })
        let table = section.split(separator: "\n").drop { !$0.hasPrefix("| `") }.prefix { $0.hasPrefix("| `") }
        return Set(table.compactMap { $0.firstMatch(of: /^\| `([^`]+)`/).map { String($0.1) } })
    }

    @Test func theGuideListsAllMembers() async throws {
        let certificates = try TestCertificates.shared.get()
        let secure = try await SecureServer(certificates, ["good": .init("good")])
        let server = try await TestServer.start()
        let port = try ClosedPort()
        let trust = ["--cacert", certificates.authority.path]
        let runs = [
            ["get", try secure.url("good").absoluteString] + trust, ["get", server.url("/redirect/1").absoluteString],
            ["get", port.url.absoluteString],
        ]
        var members: Set<String> = []
        for run in runs { members.formUnion(paths(try await Tool.run(run + ["--report", "-"]).json())) }
        let optional: Set<String> = ["error", "tls", "redirects", "fields"]
        #expect(members.subtracting(optional) == (try documented("### Requests in reports")))

        let bench = try await Tool.run([
            "bench", server.url("/json").absoluteString, "--requests", "1", "--report", "-",
        ])
        let common: Set<String> = ["schemaVersion", "command", "exitCode", "error"]
        #expect(paths(try bench.json()).subtracting(common) == (try documented("### Load tests in reports")))

        let diff = try await Tool.run([
            "diff", server.url("/json").absoluteString, server.url("/xml").absoluteString, "--report", "-",
        ])
        #expect(paths(try diff.json()).subtracting(common) == (try documented("### Comparisons in reports")))
    }

    @Test func theCertificateIsReported() async throws {
        let certificates = try TestCertificates.shared.get()
        let server = try await SecureServer(certificates, ["good": .init("good"), "bad": .init("expired")])
        let trust = ["--cacert", certificates.authority.path, "--report", "-"]
        let report = try await Tool.run(["get", server.url("good").absoluteString] + trust).json()
        #expect(value(report, "tls.version") as? String == "TLSv1.3")
        #expect((value(report, "tls.cipher") as? String)?.hasPrefix("TLS_") == true)
        #expect(value(report, "tls.certificate.subject") as? String == "CN=good")
        #expect((value(report, "tls.certificate.expires") as? String)?.hasPrefix("2090-01-01T") == true)
        let bad = try await Tool.run(["get", server.url("bad").absoluteString] + trust)
        #expect(bad.status == 3)
        let without = try await Tool.run(
            "get", server.url("bad").absoluteString, "--cacert", certificates.authority.path)
        #expect(without.status == 3)
    }

    /// The kind is the same for all commands, and a request that a command cancels because of a failure isn't "cancelled".
    @Test(.timeLimit(.minutes(10)))
    func allCommandsReportTheSameKinds() async throws {
        let server = try await TestServer.start()
        let port = try ClosedPort()
        let directory = try ScratchDirectory()
        try directory.write("mine", to: "json")
        try directory.write("a note", to: "note.txt")
        let commands = [
            ["get"], ["post"], ["xml"], ["image", "--output", "a.png"], ["download"], ["upload", "--file", "note.txt"],
            ["ws"],
            ["bench", "-n", "1"], ["diff", port.url.absoluteString],
        ]
        for command in commands {
            let closed =
                command[0] == "ws" ? port.url.absoluteString.replacing("http:", with: "ws:") : port.url.absoluteString
            let outcome = try await Tool.run(command + [closed, "--report", "-"], directory: directory.url)
            #expect(outcome.status == 3)
            #expect(try outcome.json().value(forPath: "error.kind") as? String == "cannotConnect", "\(command)")
        }
        let json = server.url("/json").absoluteString
        let missing = server.url("/status/404").absoluteString
        let kinds = [
            (["download", json], "usage"), (["download", missing], "httpStatus"), (["-f", missing], "httpStatus"),
            (["-f", "--stream", missing], "httpStatus"), (["-f", "-o", "a", missing], "httpStatus"),
            (["xml", json], "response"), (["--sse", json], "response"),
            (["xml", server.url("/xml").absoluteString, "--xpath", "//nope"], "noMatch"),
            (["-o", "/dev/full", json], "other"), (["download", json, "-o", "new", "-m", "0.000001"], "timedOut"),
        ]
        for (arguments, kind) in kinds {
            let outcome = try await Tool.run(arguments + ["--report", "-"], directory: directory.url)
            #expect(try outcome.json().value(forPath: "error.kind") as? String == kind, "\(arguments)")
        }
        await server.stop()
    }

    @Test func aWebSocketIsReported() async throws {
        let server = try await TestServer.start()
        let url = server.url("/status/404").absoluteString.replacing("http://", with: "ws://")
        let outcome = try await Tool.run(["ws", url, "--report", "-"])
        #expect(outcome.status == 4)
        let report = try outcome.json()
        #expect(report["command"] as? String == "ws" && report["status"] as? Int == 404)
    }
}

extension NSDictionary {
    /// Returns the value at a path such as "error.kind".
    fileprivate func value(forPath path: String) -> Any? {
        path.split(separator: ".").reduce(self as Any?) { ($0 as? NSDictionary)?[String($1)] }
    }
}
