import AfarJSON
import Foundation
import Testing

/// Documents are decoded in the same way as by `JSONDecoder`.
@Suite struct EquivalenceTests {
    @Test func tenThousandGeneratedDocumentsHaveTheSameValues() throws {
        var generator = DocumentGenerator(seed: 1)
        for number in 0..<10_000 {
            let text = generator.document()
            let data = Data(text.utf8)
            do {
                let expected = try JSONDecoder().decode(AnyJSON.self, from: data)
                let value = try FastJSONDecoder().decode(AnyJSON.self, from: data)
                try #require(value == expected)
            } catch {
                Issue.record("document \(number), \(error): \(text)")
                return
            }
        }
    }

    @Test func tenThousandGeneratedRecordsHaveTheSameValuesOrAreRejectedByBoth() throws {
        var generator = DocumentGenerator(seed: 2)
        var decoded = 0
        for number in 0..<10_000 {
            let text = generator.record()
            let data = Data(text.utf8)
            for (strategies, fast) in Self.decoders {
                let expected = try? strategies.decode(Record.self, from: data)
                let value = try? fast.decode(Record.self, from: data)
                decoded += value == nil ? 0 : 1
                guard value == expected else {
                    Issue.record(
                        "document \(number): \(text)\n\(String(describing: value))\n\(String(describing: expected))")
                    return
                }
            }
        }
        #expect(decoded > 1_000 && decoded < 39_000)
    }

    private static var decoders: [(JSONDecoder, FastJSONDecoder)] {
        let plain = (JSONDecoder(), FastJSONDecoder())
        var strategies = (JSONDecoder(), FastJSONDecoder())
        strategies.0.keyDecodingStrategy = .convertFromSnakeCase
        strategies.1.keyDecodingStrategy = .convertFromSnakeCase
        strategies.0.dateDecodingStrategy = .iso8601
        strategies.1.dateDecodingStrategy = .iso8601
        let floats = JSONDecoder.NonConformingFloatDecodingStrategy.convertFromString(
            positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        strategies.0.nonConformingFloatDecodingStrategy = floats
        strategies.1.nonConformingFloatDecodingStrategy = floats
        return [plain, strategies]
    }

    /// A record with every type that decoders handle specially.
    struct Record: Decodable, Equatable {
        var integer: Int
        var small: Int8?
        var unsigned: UInt64?
        var double: Double?
        var float: Float?
        var flag: Bool?
        var firstName: String?
        var date: Date?
        var data: Data?
        var url: URL?
        var list: [Int]?
        var names: [String: Double]?
        var byNumber: [Int: String]?
        var nested: [Inner]?
        var choice: Choice?
        var pairs: [[Double?]]?

        struct Inner: Decodable, Equatable {
            var id: Int
            var text: String?
        }

        enum Choice: String, Decodable { case one, two }
    }
}
