import AfarXML
import Foundation
import Testing

/// Names in namespaces. The URI and the local name are significant, but not the prefix.
@Suite struct NamespaceTests {
    static let media = "http://search.yahoo.com/mrss/"

    @Test(arguments: [
        #"<entry xmlns="A"><title>t</title></entry>"#,
        #"<a:entry xmlns:a="A"><a:title>t</a:title></a:entry>"#,
        #"<a:entry xmlns:a="A" xmlns:b="A"><b:title>t</b:title></a:entry>"#,
        #"<a:entry xmlns:a="A" xmlns:m="M"><m:title>other</m:title><a:title>t</a:title></a:entry>"#,
        #"<entry xmlns:m="M"><m:title>other</m:title><title>t</title></entry>"#,
        #"<entry xmlns:m="M"><m:title>t</m:title></entry>"#,
    ])
    func prefixesDoNotMatterAndTheParentsNamespaceTakesPrecedence(text: String) throws {
        struct Entry: Decodable { var title: String }
        #expect(try decoded(Entry.self, text).title == "t")
    }

    @Test func anArrayHasOneNamespace() throws {
        struct Channel: Decodable { var link: [String] }
        let text = #"<channel xmlns:a="A"><a:link>other</a:link><link>1</link><a:link/><link>2</link></channel>"#
        #expect(try decoded(Channel.self, text).link == ["1", "2"])
        #expect(try decoded([String: [String]].self, text) == ["link": ["1", "2"]])
    }

    @Test func aKeyCanNameTheNamespace() throws {
        struct Item: Codable, Equatable {
            var title: String
            var credit: String
            var language: String?
            var plain: String?

            enum CodingKeys: String, XMLCodingKey {
                case title, credit, plain
                case language = "lang"

                var placement: XMLPlacement {
                    switch self {
                    case .title: .automatic
                    case .credit: .child(namespace: NamespaceTests.media)
                    case .language: .attribute(namespace: "http://www.w3.org/XML/1998/namespace")
                    case .plain: .child(namespace: "")
                    }
                }
            }
        }
        let text = """
            <item xmlns:m="\(Self.media)" xml:lang="en" lang="de"><credit>none</credit><m:credit>Ada</m:credit>
            <title>t</title></item>
            """
        let item = try decoded(Item.self, text)
        #expect(item == Item(title: "t", credit: "Ada", language: "en", plain: nil))
        let encoder = XMLEncoder(rootName: "item", namespaces: ["": "urn:d", "media": Self.media])
        let written = try encoded(Item(title: "t", credit: "Ada", language: "en", plain: "p"), encoder)
        #expect(
            written == """
                <item xmlns="urn:d" xmlns:media="\(Self.media)" xml:lang="en"><title>t</title><media:credit>Ada</media:credit>\
                <plain xmlns="">p</plain></item>
                """)
        #expect(try decoded(Item.self, written).plain == "p")
    }

    @Test func missingPrefixesAreGenerated() throws {
        struct Item: Codable, Equatable {
            var a: String
            var b: Int
            var c: Int?

            enum CodingKeys: String, XMLCodingKey {
                case a, b, c
                var placement: XMLPlacement {
                    switch self {
                    case .a: .child(namespace: "urn:1")
                    case .b: .attribute(namespace: "urn:2")
                    case .c: .child(namespace: "urn:1")
                    }
                }
            }
        }
        let item = Item(a: "x", b: 1, c: nil)
        let encoder = XMLEncoder(
            rootNamespace: "urn:root", namespaces: ["ns1": "urn:root", "ns2": "urn:unused"],
            nilEncodingStrategy: .xsiNil)
        let text = try encoded(item, encoder)
        let document = try XML.Document(text)
        #expect(document.root.namespaceURI == "urn:root")
        #expect(document.root.first(named: "a", namespace: "urn:1")?.text == "x")
        #expect(document.root.attribute("b", namespace: "urn:2") == "1")
        #expect(document.root.namespaceDeclarations.count == 5)
        #expect(try decoded(Item.self, text) == item)
    }

    @Test(arguments: [
        ["a b": "urn:a"], ["xmlns": "urn:a"], ["a": ""], ["1": "urn:a"], ["a:b": "urn:a"],
        ["x": "http://www.w3.org/XML/1998/namespace"], ["": "\u{1}"],
    ])
    func invalidPrefixesAreRejected(namespaces: [String: String]) {
        #expect(throws: EncodingError.self) { try encoded(["a": 1], XMLEncoder(namespaces: namespaces)) }
    }
}
