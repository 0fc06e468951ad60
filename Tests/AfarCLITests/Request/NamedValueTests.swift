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
}
