import AfarXML
import Foundation
import Testing

/// The contents of decoding errors.
@Suite struct DecodingErrorTests {
    struct Entry: Decodable {
        var title: String
        @XMLAttribute var id: Int
    }
    struct Feed: Decodable { var entry: [Entry] }

    @Test func aMissingKeyIsReportedWithPathAndLine() throws {
        let text = "<feed>\n<entry id='1'><title/></entry>\n<entry id='2'/>\n</feed>"
        let error = #expect(throws: DecodingError.self) { try decoded(Feed.self, text) }
        guard case .keyNotFound(let key, let context)? = error else { throw error ?? .empty }
        #expect(key.stringValue == "title")
        #expect(context.codingPath.map(\.stringValue) == ["entry", "1"])
        #expect(context.debugDescription == "Found no element or attribute named title at /feed/entry[2], line 3.")
    }

    @Test func anInvalidValueIsReported() throws {
        let text = "<f:feed xmlns:f='urn:f'>\n<f:entry id='x'><f:title/></f:entry></f:feed>"
        let error = #expect(throws: DecodingError.self) { try decoded(Feed.self, text) }
        guard case .dataCorrupted(let context)? = error else { throw error ?? .empty }
        #expect(context.codingPath.map(\.stringValue) == ["entry", "0", "id"])
        #expect(
            context.debugDescription
                == "Expected an integer from \(Int.min) to \(Int.max), found \"x\" at /feed/entry/@id, line 2.")
    }

    @Test func longTextIsShortened() {
        let text = "<x>\(String(repeating: "a", count: 100_000))</x>"
        let error = #expect(throws: DecodingError.self) { try decoded(Int.self, text) }
        #expect((error?.context?.debugDescription.count ?? 1000) < 200)
    }

    @Test func aTypesDecodingErrorIsLocated() {
        struct Even: Decodable {
            init(from decoder: any Decoder) throws {
                let container = try decoder.singleValueContainer()
                guard try container.decode(Int.self) % 2 == 0 else {
                    throw DecodingError.dataCorruptedError(in: container, debugDescription: "It is odd.")
                }
            }
        }
        let error = #expect(throws: DecodingError.self) {
            try decoded([[Even]].self, "<x><y><z>2</z>\n<z>3</z></y></x>")
        }
        #expect(error?.context?.debugDescription == "It is odd. The element is at /x/y/z[2], line 2.")
    }

    @Test func manyErrorsAreHandledQuickly() throws {
        struct Lenient: Decodable {
            var isNumber: Bool
            init(from decoder: any Decoder) throws {
                isNumber = (try? decoder.singleValueContainer().decode(Int.self)) != nil
            }
        }
        let text = "<x>\(String(repeating: "<y>a</y>", count: 20_000))<y>1</y></x>"
        let values = try decoded([Lenient].self, text)
        #expect(values.count == 20_001)
        #expect(values.filter(\.isNumber).count == 1)
    }

    @Test func otherErrorsAreUnchanged() {
        struct Refusal: Error {}
        struct Strict: Decodable { init(from decoder: any Decoder) throws { throw Refusal() } }
        #expect(throws: Refusal.self) { try decoded([Strict].self, "<x><y/></x>") }
    }

    @Test func aMalformedDocumentReportsTheParsersError() throws {
        for text in ["", "<a>", "<a></b>", "no", "<a/><b/>", "<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>"] {
            let error = #expect(throws: DecodingError.self, "\(text)") { try decoded(String.self, text) }
            guard case .dataCorrupted(let context)? = error else { throw error ?? .empty }
            #expect(context.underlyingError is XML.Error)
        }
    }

    @Test func theDecodersLimitsApply() {
        let options = XML.ParsingOptions(maximumDepth: 2)
        #expect(throws: DecodingError.self) {
            try decoded(String.self, "<a><b><c/></b></a>", XMLDecoder(parsingOptions: options))
        }
    }

    @Test func mismatchedContainers() {
        struct Keyed: Decodable { var a: Int }
        let error = #expect(throws: DecodingError.self) { try decoded([String: Keyed].self, #"<x k="v"/>"#) }
        #expect(error?.context?.debugDescription.contains("/x/@k") == true)
    }
}
