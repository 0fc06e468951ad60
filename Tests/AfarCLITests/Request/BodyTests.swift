import ArgumentParser
import Foundation
import Testing

@testable import AfarCLI

struct BodyTests {
    private func body(_ arguments: String...) throws -> Body? {
        try Body(BodyOptions.parse(arguments))
    }

    @Test func aBodyIsOptional() throws {
        #expect(try body() == nil)
    }

    @Test(arguments: [
        ("plain", "text/plain; charset=utf-8"), ("7", "text/plain; charset=utf-8"), ("{}", "application/json"),
        (" [1]\n", "application/json"), ("{a}", "text/plain; charset=utf-8"), ("", "text/plain; charset=utf-8"),
    ])
    func theContentTypeOfDataIsDetected(text: String, type: String) throws {
        #expect(try body("--data", text) == Body(bytes: Data(text.utf8), contentType: type))
    }

    @Test func binaryDataIsAnOctetStream() {
        #expect(Body(bytes: Data([0xFF, 0x00])).contentType == "application/octet-stream")
    }

    @Test func valuesCanBeginWithADash() throws {
        #expect(try body("--json", "--a=-b")?.bytes == Data(#"{"--a":"-b"}"#.utf8))
    }

    @Test func rawJSONValuesAreUnchanged() throws {
        #expect(
            try Body.jsonObject(["a:=1.0", "b:=null", "c= 1", #"d:={"x": "y"}"#, "e:x=:="]) == """
                {"a":1.0,"b":null,"c":" 1","d":{"x": "y"},"e:x":":="}
                """)
        #expect(throws: Failure.self) { try Body.jsonObject(["a:="]) }
        #expect(throws: Failure.self) { try Body.jsonObject(["a=1", "a:=1"]) }
    }
}
