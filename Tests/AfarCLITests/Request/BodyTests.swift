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

    @Test func dataIsJoinedWithoutLineBreaks() async throws {
        let form = try await withTemporaryFile(Data("b=2\r\n&c=\n3\n".utf8)) {
            try body("-d", "a=1 ", "-d", "@\($0)", "--data", "")
        }
        #expect(form == .bytes(Data("a=1 &b=2&c=3&".utf8), contentType: "application/x-www-form-urlencoded"))
    }
}
