import AfarJSON
import Foundation
import Testing

@Suite struct FastJSONDecoderTests {
    @Test func aValueIsDecoded() throws {
        struct User: Decodable, Equatable { let id: Int, name: String, tags: [String], score: Double? }
        let text = #"{"id": 7, "name": "Ada\n\u00e9\ud83d\ude00", "tags": ["a", "b"]}"#
        #expect(
            try FastJSONDecoder().decode(User.self, from: Data(text.utf8))
                == User(id: 7, name: "Ada\né😀", tags: ["a", "b"], score: nil))
    }
}
