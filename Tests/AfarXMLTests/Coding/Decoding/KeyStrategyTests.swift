import AfarXML
import Foundation
import Testing

/// Conversion between names and keys.
@Suite struct KeyStrategyTests {
    struct Feed: Codable, Equatable {
        var feedURL: String
        var oneTwoThree: [Int]
        @XMLAttribute var shortName: String
    }

    enum Shape: Codable, Equatable, XMLChoice {
        case bigCircle(radius: Int)
        case dot
    }

    private let feed = Feed(feedURL: "u", oneTwoThree: [1, 2], shortName: "s")

    @Test func snakeCase() throws {
        let text = try encoded(feed, XMLEncoder(rootName: "feed", keyEncodingStrategy: .convertToSnakeCase))
        #expect(
            text
                == #"<feed short_name="s"><feed_url>u</feed_url><one_two_three>1</one_two_three><one_two_three>2</one_two_three></feed>"#
        )
        #expect(try decoded(Feed.self, text, XMLDecoder(keyDecodingStrategy: .convertFromSnakeCase)) == feed)
    }

    @Test func kebabCase() throws {
        let text = try encoded(feed, XMLEncoder(rootName: "feed", keyEncodingStrategy: .convertToKebabCase))
        #expect(text.contains("<feed-url>u</feed-url>"))
        #expect(try decoded(Feed.self, text, XMLDecoder(keyDecodingStrategy: .convertFromKebabCase)) == feed)
    }

    @Test func aClosure() throws {
        let encoder = XMLEncoder(
            rootName: "feed",
            keyEncodingStrategy: .custom { path in Name(path.last.map { $0.stringValue.uppercased() } ?? "") })
        let text = try encoded(feed, encoder)
        #expect(text.contains(#"<feed SHORTNAME="s"><FEEDURL>u</FEEDURL>"#))
        let decoder = XMLDecoder(
            keyDecodingStrategy: .custom { path in
                let names = ["FEEDURL": "feedURL", "ONETWOTHREE": "oneTwoThree", "SHORTNAME": "shortName"]
                return Name(names[path.last?.stringValue ?? ""] ?? "")
            })
        #expect(try decoded(Feed.self, text, decoder) == feed)
    }

    @Test func namesOfCases() throws {
        let text = "<list><big_circle><radius>1</radius></big_circle><dot/></list>"
        let decoder = XMLDecoder(keyDecodingStrategy: .convertFromSnakeCase)
        #expect(try decoded([Shape].self, text, decoder) == [.bigCircle(radius: 1), .dot])
        let encoder = XMLEncoder(rootName: "list", keyEncodingStrategy: .convertToSnakeCase)
        #expect(try encoded([Shape.bigCircle(radius: 1), .dot], encoder) == text)
    }

    @Test func dictionaryKeysAreUnchanged() throws {
        let decoder = XMLDecoder(keyDecodingStrategy: .convertFromSnakeCase)
        let text = "<x><a_b>1</a_b><cD>2</cD></x>"
        #expect(try decoded([String: Int].self, text, decoder) == ["a_b": 1, "cD": 2])
    }

    struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(_ name: String) { stringValue = name }
        init?(stringValue: String) { self.init(stringValue) }
        init?(intValue: Int) { return nil }
    }
}
