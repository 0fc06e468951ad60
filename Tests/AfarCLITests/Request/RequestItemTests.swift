import Afar
import AfarTestServer
import ArgumentParser
import Foundation
import Testing

@testable import AfarCLI

struct RequestItemTests {
    @Test(arguments: [
        ("a=b", RequestItem.Kind.text, "a", "b"), ("a==b", .query, "a", "b"), ("a:=3", .json, "a", "3"),
        ("a:b", .header, "a", "b"), ("a@b", .file, "a", "b"), ("a=@b", .textFile, "a", "b"),
        ("a:=@b", .jsonFile, "a", "b"), ("a:@b", .headerFile, "a", "b"), ("a==@b", .queryFile, "a", "b"),
        ("a=", .text, "a", ""), ("a:", .header, "a", ""), ("a;", .emptyHeader, "a", ""),
        ("a=b:c", .text, "a", "b:c"), ("a:b=c", .header, "a", "b=c"),
        ("a:http://x/?y=z@w", .header, "a", "http://x/?y=z@w"),
        (#"a\=b=c"#, .text, "a=b", "c"), (#"a\:b:c"#, .header, "a:b", "c"), (#"a\\=b"#, .text, #"a\"#, "b"),
        (#"a\b=c"#, .text, #"a\b"#, "c"), ("a=b=c==d", .text, "a", "b=c==d"), ("a===b", .query, "a", "=b"),
        ("é=ü", .text, "é", "ü"), ("a[b]=c", .text, "a[b]", "c"),
    ])
    func separatorsAreRecognized(text: String, kind: RequestItem.Kind, name: String, value: String) throws {
        let item = try RequestItem(text)
        #expect(item.kind == kind && item.name.text == name && item.value == value)
    }

    @Test(arguments: ["", "a", "=b", ":b", "@b", "==b", ";", #"a\=b"#, "example.com"])
    func otherArgumentsAreRefused(text: String) {
        #expect(throws: RequestItem.NotAnItem.self) { try RequestItem(text) }
    }

    private func json(_ items: String...) throws -> String { try JSONTree.text(of: items.map { try RequestItem($0) }) }

    @Test func namesWithBracketsAreNested() throws {
        #expect(try json("a=1", "b:=2") == #"{"a":"1","b":2}"#)
        #expect(try json("a[b][c]=1", "a[d]:=true", "a[b][e]=2") == #"{"a":{"b":{"c":"1","e":"2"},"d":true}}"#)
        #expect(try json("a[]=1", "a[]=2", "a[3]=4") == #"{"a":["1","2",null,"4"]}"#)
        #expect(try json("[]:=1", "[]:=2") == "[1,2]")
        #expect(try json("[0][a]=1", "[2][a]=3") == #"[{"a":"1"},null,{"a":"3"}]"#)
        #expect(try json("a[][b]=1", "a[][b]=2") == #"{"a":[{"b":"1"},{"b":"2"}]}"#)
        #expect(try json(#"a\[b\]=1"#, #"c[\[]=2"#, #"d[\\1]=3"#) == #"{"a[b]":"1","c":{"[":"2"},"d":{"\\1":"3"}}"#)
        #expect(try json(#"a:={"x": [1]}"#, #"quote"="\"#) == #"{"a":{"x": [1]},"quote\"":"\"\\"}"#)
    }

    @Test(arguments: [
        ["a=1", "a=2"], ["a=1", "a[b]=2"], ["a[]=1", "a[b]=2"], ["a[b]=1", "a[]=2"], ["a=1", "[]=2"], ["a[=1"],
        ["a[b]c=1"],
        ["a[[b]]=1"], ["a[10000]=1"], ["a[99999999999999999999]=1"], ["a:="], ["a:=x"], ["a=@/no/such/file"],
        ["a" + String(repeating: "[b]", count: 300) + "=1"],
    ])
    func contradictionsAreRefused(items: [String]) {
        #expect(throws: Failure.self) { try JSONTree.text(of: items.map { try RequestItem($0) }) }
    }

    @Test func filesKeepTheNamesOfTheirParts() throws {
        let body = try Body(BodyOptions.parse([]), items: [RequestItem(#"a\=b@/etc/hostname"#)])
        guard case .form(let parts) = body, case .file(let path, _, _) = parts[0].content else {
            Issue.record("\(String(describing: body))")
            return
        }
        #expect(parts[0].name == "a=b" && path == "/etc/hostname")
    }

    @Test func failuresOmitValues() throws {
        let failure = #expect(throws: Failure.self) { try json("password:=hunter2") }
        #expect(failure?.message.contains("password:=…") == true && failure?.message.contains("hunter2") == false)
    }

    // MARK: Arguments

    private func target(_ words: String..., hasMethod: Bool = true) throws -> RequestWords.Target {
        try RequestWords.parse(words).target(hasMethod: hasMethod)
    }

    @Test func aMethodCanPrecedeTheURL() throws {
        #expect(try target("PURGE", ":8080").method?.rawValue == "PURGE")
        #expect(try target("post", "example.com", "a=1").method == .post)
        #expect(try target("localhost", "a=1") == .init(url: "localhost", items: [RequestItem("a=1")]))
        #expect(try target("get", hasMethod: false) == .init(url: "get"))
        #expect(try target("http://get") == .init(url: "http://get"))
        let failure = #expect(throws: Failure.self) { try target("purge", "example.com") }
        #expect(failure?.message.contains("-X PURGE") == true)
    }

    /// RFC 9110, section 9.1.
    @Test func methodsAreSentAsWritten() async throws {
        let server = try await TestServer.start()
        let url = server.url("/anything").absoluteString
        for (arguments, method) in [
            (["-X", "Purge"], "Purge"), (["-X", "purge"], "purge"), (["-X", "post"], "POST"), (["-XDelete"], "DELETE"),
        ] {
            let outcome = try await Tool.run(arguments + [url])
            #expect(try outcome.json()["method"] as? String == method)
        }
        #expect(try await Tool.run("Post", url).json()["method"] as? String == "POST")
        await server.stop()
    }

    @Test(arguments: [
        ("gte", "get"), ("downlaod", "download"), ("trsut", "trust"), ("hepl", "help"), ("requst", "request"),
    ])
    func misspelledCommandsAreNamed(word: String, command: String) {
        #expect(Misspelling.command(meantBy: word) == command)
    }

    @Test(arguments: [
        "localhost", "example.com", ":8080", "intranet", "api", "wiki", "http://gte", "gte:80", "gte.example",
    ])
    func hostsAreNotMisspelledCommands(word: String) {
        #expect(Misspelling.command(meantBy: word) == nil)
    }
}
