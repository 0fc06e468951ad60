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
        let fields = try ["Accept: a", "accept: b", "cookie: x", "Cookie: y"].map { try NamedValue(header: $0) }
        let (headers, removed) = HTTPHeaders.combining(fields)
        #expect(headers.value(for: "Accept") == "a, b")
        #expect(headers.value(for: "Cookie") == "x; y")
        #expect(headers.count == 2 && removed.isEmpty)
    }

    @Test func headersCanBeRemovedOrEmpty() throws {
        let fields = try ["Accept:", "X-Empty;", "User-Agent:", "User-Agent: a"].map { try NamedValue(header: $0) }
        let (headers, removed) = HTTPHeaders.combining(fields)
        #expect(headers.count == 2 && headers["X-Empty"] == "" && headers["User-Agent"] == "a")
        #expect(removed == ["Accept"])
    }
}
