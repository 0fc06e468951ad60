import AfarCore
import AfarJSON
import AfarSerializers
import Foundation
import Testing

@Suite struct GrammarTests {
    @Test func theListIsComplete() {
        #expect(Grammar.accepted.count + Grammar.refused.count >= 300)
        #expect(Set(Grammar.accepted.map(\.bytes)).isDisjoint(with: Grammar.refused.map(\.bytes)))
    }

    @Test(arguments: Grammar.accepted)
    func validJSONIsAccepted(text: Grammar.Text) throws {
        _ = try FastJSONDecoder().decode(Shape.self, from: text.bytes)
    }

    @Test(arguments: Grammar.refused)
    func invalidJSONIsRejected(text: Grammar.Text) throws {
        let error = #expect(throws: DecodingError.self) { try FastJSONDecoder().decode(Shape.self, from: text.bytes) }
        guard case .dataCorrupted(let context)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(context.underlyingError is InvalidJSON || context.underlyingError is TextDecodingError)
    }

    @Test(arguments: Grammar.accepted)
    func theFoundationValueSerializerAcceptsValidJSON(text: Grammar.Text) throws {
        // Foundation can't represent a number that exceeds the range of a double.
        _ = try JSONResponseSerializer().serialize(
            SerializationInput(request: nil, head: nil, data: text.bytes, error: nil))
    }

    /// The serializers validate the entire document, although `JSONDecoder` checks only the requested parts.
    @Test(arguments: Grammar.refused.filter { !$0.bytes.isEmpty })
    func theOtherSerializersRejectInvalidJSON(text: Grammar.Text) throws {
        let input = SerializationInput(request: nil, head: nil, data: text.bytes, error: nil)
        #expect(throws: AFError.self) { try JSONResponseSerializer().serialize(input) }
        #expect(throws: AFError.self) { try DecodableResponseSerializer<AnyJSON>().serialize(input) }
    }

    @Test func aPlainValueIsADocument() throws {
        #expect(try FastJSONDecoder().decode(Int.self, from: Data("7".utf8)) == 7)
        #expect(try FastJSONDecoder().decode(String?.self, from: Data("null".utf8)) == nil)
    }

    @Test func unpairedSurrogatesAreRejected() throws {
        for string in [#""\ud83d""#, #""\ude00""#, #""\ud83dx""#, #""\ud83d\n""#, #""\ud83d\ud83d""#, #"{"\ud83d":1}"#]
        {
            let error = #expect(throws: DecodingError.self) {
                try FastJSONDecoder().decode(Shape.self, from: Data(string.utf8))
            }
            #expect("\(String(describing: error))".contains("lone surrogate"))
        }
    }

    @Test(arguments: [String.Encoding.utf8, .utf16, .utf16BigEndian, .utf16LittleEndian, .utf32BigEndian])
    func otherUnicodeEncodingsAreDecoded(encoding: String.Encoding) throws {
        let data = try #require(#"{"name": "Ada é"}"#.data(using: encoding))
        #expect(try FastJSONDecoder().decode([String: String].self, from: data) == ["name": "Ada é"])
    }

    @Test func aByteOrderMarkIsSkipped() throws {
        #expect(try FastJSONDecoder().decode([Int].self, from: Data([0xEF, 0xBB, 0xBF] + "[1]".utf8)) == [1])
    }

    @Test func nestingHasALimit() throws {
        func nested(_ depth: Int) -> Data {
            Data((String(repeating: "[", count: depth) + String(repeating: "]", count: depth)).utf8)
        }
        _ = try FastJSONDecoder().decode(Shape.self, from: nested(512))
        let error = #expect(throws: DecodingError.self) { try FastJSONDecoder().decode(Shape.self, from: nested(513)) }
        #expect("\(String(describing: error))".contains("nested more than 512 levels deep"))
    }

    /// A type that accepts any document without reading it.
    private struct Shape: Decodable {
        init(from decoder: any Decoder) throws {}
    }
}
