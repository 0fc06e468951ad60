import Afar
import Testing

@testable import AfarCLI

struct NamedValueTests {
    @Test func theFirstSignSeparatesNameAndValue() throws {
        let pair = try NamedValue("a=b=c", option: "--query")
        #expect(pair.name == "a" && pair.value == "b=c")
        #expect(throws: Failure.self) { try NamedValue("=b", option: "--query") }
        #expect(throws: Failure.self) { try NamedValue("a", option: "--query") }
    }

    @Test func headersAreTrimmed() throws {
        let pair = try NamedValue(header: "Name :  a: b ")
        #expect(pair.name == "Name" && pair.value == "a: b")
        #expect(throws: Failure.self) { try NamedValue(header: ": b") }
    }

    @Test func headersWithTheSameNameAreJoined() throws {
        let headers = try HTTPHeaders(arguments: ["Accept: a", "accept: b", "cookie: x", "Cookie: y"])
        #expect(headers.value(for: "Accept") == "a, b")
        #expect(headers.value(for: "Cookie") == "x; y")
        #expect(headers.count == 2)
    }
}
