import AfarXML
import Foundation
import Testing

/// Text and names that XML requires to be escaped or doesn't support.
@Suite struct EscapingTests {
    struct Both: Codable, Equatable {
        @XMLAttribute var attribute: String
        var element: String
        init(_ text: String) {
            attribute = text
            element = text
        }
    }

    @Test(arguments: [
        "<a href=\"b\">&amp;</a>", "]]>", "a\nb\r\nc\rd\te", "  leading and trailing \n", "'\"", "\u{85}\u{2028}",
        "\u{7F}\u{9F}",
        "\u{FFFD}\u{10FFFF}𝄞e\u{301}", "&#0;", "<!--", "<![CDATA[", "",
    ])
    func everyTextRoundTrips(text: String) throws {
        let written = try encoded(Both(text))
        #expect(try decoded(Both.self, written) == Both(text))
        let root = try XML.Document(written).root
        #expect(
            Array(root.first(named: "element")?.text.unicodeScalars ?? "x".unicodeScalars) == Array(text.unicodeScalars)
        )
        #expect(root["attribute"] == text)
    }

    @Test func escapeSequences() throws {
        let text = try encoded(Both("<>&\"'\n\r\t]]>"))
        #expect(
            text
                == "<Both attribute=\"&lt;&gt;&amp;&quot;'&#10;&#13;&#9;]]&gt;\"><element>&lt;&gt;&amp;\"'\n&#13;\t]]&gt;</element></Both>"
        )
    }

    @Test(arguments: ["\0", "a\u{1}", "\u{B}", "\u{1F}", "\u{FFFE}", "\u{FFFF}"])
    func invalidXMLCharactersAreErrors(text: String) throws {
        let error = #expect(throws: EncodingError.self) { try encoded(["key": text]) }
        #expect(error?.context?.codingPath.map(\.stringValue) == ["key"])
        #expect(error?.context?.debugDescription.contains("U+") == true)
        #expect(throws: EncodingError.self) { try encoded(["key": XMLAttribute(wrappedValue: text)]) }
        #expect(throws: EncodingError.self) { try encoded(["key": XMLAttribute(wrappedValue: ["a", "b" + text])]) }
    }

    @Test(arguments: ["", "1a", "a b", "a:b", "-a", "<", "a/b", "a\0", "×", "a=\"b\"", "/", "?", "!--", "\u{300}"])
    func invalidNamesAreErrors(name: String) throws {
        let error = #expect(throws: EncodingError.self) { try encoded([name: 1]) }
        #expect(error?.context?.debugDescription.contains(name.debugDescription) == true)
        #expect(throws: EncodingError.self) { try encoded([name: XMLAttribute(wrappedValue: 1)]) }
        #expect(throws: EncodingError.self) { try encoded(1, XMLEncoder(rootName: name)) }
        #expect(throws: EncodingError.self) { try encoded([1], XMLEncoder(itemName: name)) }
    }

    @Test(arguments: ["a", "_a-1.b", "größe", "名", "a·", "xml", "\u{10000}"])
    func validNamesAreUnchanged(name: String) throws {
        let text = try encoded([name: 1])
        #expect(text == "<root><\(name)>1</\(name)></root>")
        #expect(try decoded([String: Int].self, text) == [name: 1])
    }

    @Test func nestedContainersWithInvalidNamesAreErrors() {
        struct Nesting: Encodable {
            func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: Name.self)
                var nested = container.nestedContainer(keyedBy: Name.self, forKey: Name("a b"))
                // The error is thrown by the first method that can throw.
                _ = nested.nestedUnkeyedContainer(forKey: Name("c"))
                try nested.encode(1, forKey: Name("d"))
            }
        }
        #expect(throws: EncodingError.self) { try encoded(Nesting()) }
        struct Silent: Encodable {
            func encode(to encoder: any Encoder) {
                var container = encoder.container(keyedBy: Name.self)
                _ = container.nestedContainer(keyedBy: Name.self, forKey: Name("a b"))
            }
        }
        #expect(throws: EncodingError.self) { try encoded(Silent()) }
    }

    struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(_ name: String) { stringValue = name }
        init?(stringValue: String) { self.init(stringValue) }
        init?(intValue: Int) { return nil }
    }
}
