import AfarCore
import ArgumentParser
import Foundation
import Testing

@testable import AfarCLI

struct BodyTests {
    private func body(_ arguments: String...) throws -> Body? { try body(arguments) }

    private func body(_ arguments: [String]) throws -> Body? { try Body(BodyOptions.parse(arguments)) }

    @Test func aBodyIsOptional() throws {
        #expect(try body() == nil)
    }

    @Test(arguments: [
        ("plain", "text/plain; charset=utf-8"), ("7", "text/plain; charset=utf-8"), ("{}", "application/json"),
        (" [1]\n", "application/json"), ("{a}", "text/plain; charset=utf-8"), ("", "text/plain; charset=utf-8"),
    ])
    func theContentTypeOfDataIsDetected(text: String, type: String) throws {
        #expect(try body("--raw", text) == .bytes(Data(text.utf8), contentType: type))
    }

    @Test func binaryDataIsAnOctetStream() {
        #expect(Body.contentType(of: Data([0xFF, 0x00])) == "application/octet-stream")
    }

    @Test func valuesCanBeginWithADash() throws {
        #expect(try body("--json", "--a=-b")?.bytes == Data(#"{"--a":"-b"}"#.utf8))
    }

    @Test func rawJSONValuesAreUnchanged() throws {
        let members = ["a:=1.0", "b:=null", "c= 1", #"d:={"x": "y"}"#, "e:x=:="]
        #expect(
            try body(members.flatMap { ["--json", $0] })?.bytes.map { String(decoding: $0, as: UTF8.self) } == """
                {"a":1.0,"b":null,"c":" 1","d":{"x": "y"},"e:x":":="}
                """)
        #expect(throws: Failure.self) { try body("--json", "a:=") }
        #expect(throws: Failure.self) { try body("--json", "a=1", "--json", "a:=1") }
    }

    @Test(arguments: [
        ("a b&c", "a+b%26c"), ("=a=b", "a%3Db"), ("q=a b", "q=a+b"), ("a@b=c d", "a@b=c+d"), ("é", "%C3%A9"), ("", ""),
    ])
    func urlEncodedDataHasTheFormsOfCurl(text: String, encoded: String) throws {
        #expect(try body("--data-urlencode", text)?.bytes == Data(encoded.utf8))
    }

    @Test func urlEncodedFilesAreBytes() async throws {
        let data = try await withTemporaryFile(Data([0x61, 0x0A, 0xFF])) {
            try body(
                "--data-urlencode", "b= ", "-d", "a=1", "--data-urlencode", "@\($0)", "--data-urlencode", "n@\($0)")
        }
        #expect(data?.bytes == Data("a=1&b=+&a%0A%FF&n=a%0A%FF".utf8))
        let failure = try #require(throws: Failure.self) { try body("--data-urlencode", "n@/nonexistent") }
        #expect(failure.message == "--data-urlencode (write =text for text with @): the file doesn't exist.")
        #expect(throws: Failure.self) { try body("--data-urlencode", "a", "--raw", "b") }
    }

    @Test func jsonTextIsTheWholeBody() async throws {
        for texts in [[#" {"a": "b=1"}"#], ["[1]"], [#"{"a":"#, "1", "}"], ["[]", " "]] {
            let body = try body(texts.flatMap { ["--json", $0] })
            #expect(body == .bytes(Data(texts.joined().utf8), contentType: "application/json"))
        }
        let (file, path) = try await withTemporaryFile(Data("no JSON\n".utf8)) { path in
            #expect(throws: Failure.self) { try body("--json", "@\(path)", "--json", "{}") }
            return (try body("--json", "@\(path)"), path)
        }
        #expect(file == .bytes(Data("no JSON\n".utf8), contentType: "application/json", path: path))
        for texts in [["{}", "a=1"], ["{}", "{}"], [#"{"a":1"#], ["[1"], ["@/nonexistent"]] {
            let failure = try #require(throws: Failure.self) { try body(texts.flatMap { ["--json", $0] }) }
            #expect(failure.status == .usage && failure.message.contains("--json"), "\(failure)")
        }
    }

    private func plan(_ arguments: String...) throws -> RequestPlan {
        let command = try RequestCommand<AnyRequest>.parse(arguments)
        return try RequestPlan(
            command.target.target(hasMethod: true), command.choice, commandMethod: nil, command, command.body)
    }

    @Test func dataIsAddedToTheQuery() throws {
        let plan = try plan(":1/?a=1", "-G", "-d", "b=2", "--data-urlencode", "c=x y#")
        #expect(plan.url == "http://localhost:1/?a=1&b=2&c=x+y%23" && plan.method == .get && plan.body == nil)
    }

    @Test func jsonIsAccepted() throws {
        #expect(try plan(":1/", "--json", "{}").headers["Accept"] == "application/json")
        #expect(try plan(":1/", "--json", "{}", "Accept:text/plain").headers["Accept"] == "text/plain")
        #expect(try plan(":1/", "--json", "a=1").headers["Accept"] == nil)
        #expect(throws: Failure.self) { try plan(":1/", "--json", "{}", "a=1") }
    }

    @Test func jsonInAFormIsNoticed() throws {
        #expect(try plan(":1/", "-d", #"{"a":1}"#).sendsJSONAsForm)
        #expect(try plan(":1/", "--data-raw", "[1]").sendsJSONAsForm)
        #expect(try !plan(":1/", "-d", "[1]", "Content-Type:application/json").sendsJSONAsForm)
        #expect(try !plan(":1/", "-d", "a=1").sendsJSONAsForm && !plan(":1/", "-G", "-d", "[1]").sendsJSONAsForm)
    }

    @Test func dataIsJoinedWithoutLineBreaks() async throws {
        let form = try await withTemporaryFile(Data("b=2\r\n&c=\n3\n".utf8)) {
            try body("-d", "a=1 ", "-d", "@\($0)", "--data", "")
        }
        #expect(form == .bytes(Data("a=1 &b=2&c=3&".utf8), contentType: "application/x-www-form-urlencoded"))
    }
}
