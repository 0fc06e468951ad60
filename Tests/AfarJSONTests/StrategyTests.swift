import AfarJSON
import Foundation
import Testing

@Suite struct StrategyTests {
    private func decode<T: Decodable>(_ type: T.Type, _ text: String, with decoder: FastJSONDecoder) throws -> T {
        try decoder.decode(type, from: Data(text.utf8))
    }

    @Test(arguments: [
        "user_name", "_private_name", "trailing_name_", "__both__sides__", "a", "_", "", "already", "alreadyCamel",
        "ALL_CAPS",
        "mixed_Case_Name", "with_1_number", "double__underscore", "ümlaut_größe", "url_id", "a_b_c",
    ])
    func namesAreConvertedAsByFoundation(name: String) throws {
        let data = try JSONEncoder().encode([name: 1])
        let foundation = JSONDecoder()
        foundation.keyDecodingStrategy = .convertFromSnakeCase
        #expect(
            try FastJSONDecoder(keyDecodingStrategy: .convertFromSnakeCase).decode(Names.self, from: data).names
                == foundation.decode(Names.self, from: data).names)
    }

    /// The keys that a decoder provides.
    private struct Names: Decodable {
        let names: [String]

        struct Key: CodingKey {
            let stringValue: String
            var intValue: Int? { nil }
            init(stringValue: String) { self.stringValue = stringValue }
            init?(intValue: Int) { nil }
        }

        init(from decoder: any Decoder) throws {
            names = try decoder.container(keyedBy: Key.self).allKeys.map(\.stringValue)
        }
    }

    @Test func snakeCaseIsConvertedExceptInDictionaries() throws {
        struct User: Decodable, Equatable { let firstName: String, petNames: [String: [Inner]] }
        struct Inner: Decodable, Equatable { let theAge: Int }
        let text = #"{"first_name":"Ada","pet_names":{"big_cat":[{"the_age":3}]}}"#
        #expect(
            try decode(User.self, text, with: FastJSONDecoder(keyDecodingStrategy: .convertFromSnakeCase))
                == User(firstName: "Ada", petNames: ["big_cat": [Inner(theAge: 3)]]))
    }

    @Test func namesWithTheSameConversionFollowTheRule() throws {
        struct User: Decodable { let firstName: Int }
        let text = #"{"first_name":1,"firstName":2}"#
        var decoder = FastJSONDecoder(keyDecodingStrategy: .convertFromSnakeCase)
        #expect(try decode(User.self, text, with: decoder).firstName == 1)
        decoder.duplicateKeyStrategy = .useLast
        #expect(try decode(User.self, text, with: decoder).firstName == 2)
        decoder.duplicateKeyStrategy = .reject
        #expect(throws: DecodingError.self) { try decode(User.self, text, with: decoder) }
    }

    @Test func customKeysGetThePath() throws {
        struct Outer: Decodable { let inner: [Inner] }
        struct Inner: Decodable { let inner0x: Int }
        struct Key: CodingKey {
            let stringValue: String
            var intValue: Int? { nil }
            init(stringValue: String) { self.stringValue = stringValue }
            init?(intValue: Int) { nil }
        }
        let decoder = FastJSONDecoder(
            keyDecodingStrategy: .custom { path in
                guard path.count > 1, let last = path.last else { return Key(stringValue: "inner") }
                return Key(stringValue: path[0].stringValue + "\(path[1].intValue ?? -1)" + last.stringValue)
            })
        #expect(try decode(Outer.self, #"{"I":[{"x":5}]}"#, with: decoder).inner.map(\.inner0x) == [5])
    }

    @Test func datesAreDecodedWithEveryStrategy() throws {
        let date = Date(timeIntervalSince1970: 1_700_000_000)
        func decoded(_ text: String, _ strategy: JSONDecoder.DateDecodingStrategy) throws -> Date {
            try decode([Date].self, "[\(text)]", with: FastJSONDecoder(dateDecodingStrategy: strategy))[0]
        }
        #expect(try decoded("\(date.timeIntervalSinceReferenceDate)", .deferredToDate) == date)
        #expect(try decoded("1700000000", .secondsSince1970) == date)
        #expect(try decoded("1700000000000", .millisecondsSince1970) == date)
        #expect(try decoded("\"2023-11-14T22:13:20Z\"", .iso8601) == date)
        let formatter = DateFormatter()
        formatter.dateFormat = "yyyy-MM-dd HH:mm:ss"
        formatter.timeZone = TimeZone(secondsFromGMT: 0)
        #expect(try decoded("\"2023-11-14 22:13:20\"", .formatted(formatter)) == date)
        #expect(
            try decoded(
                "1700", .custom { Date(timeIntervalSince1970: try $0.singleValueContainer().decode(Double.self) * 1e6) }
            )
                == date)
        #expect(throws: DecodingError.self) { try decoded("\"yesterday\"", .iso8601) }
        #expect(throws: DecodingError.self) { try decoded("7", .iso8601) }
        #expect(throws: DecodingError.self) { try decoded("\"7\"", .secondsSince1970) }
    }

    @Test func dataIsDecodedWithEveryStrategy() throws {
        let data = Data("Ada".utf8)
        #expect(try decode(Data.self, "\"QWRh\"", with: FastJSONDecoder()) == data)
        #expect(
            try decode(Data.self, "[65,100,97]", with: FastJSONDecoder(dataDecodingStrategy: .deferredToData)) == data)
        let custom = FastJSONDecoder(
            dataDecodingStrategy: .custom { Data(try $0.singleValueContainer().decode(String.self).utf8) })
        #expect(try decode(Data.self, "\"Ada\"", with: custom) == data)
        #expect(throws: DecodingError.self) { try decode(Data.self, "\"*\"", with: FastJSONDecoder()) }
    }

    @Test func infinitiesAndNaNCanBeStrings() throws {
        let decoder = FastJSONDecoder(
            nonConformingFloatDecodingStrategy: .convertFromString(
                positiveInfinity: "Inf", negativeInfinity: "-Inf", nan: "NaN"))
        let numbers = try decode([Double].self, #"["Inf","-Inf","NaN",1]"#, with: decoder)
        #expect(numbers[0] == .infinity && numbers[1] == -.infinity && numbers[2].isNaN && numbers[3] == 1)
        #expect(try decode(Float.self, "\"Inf\"", with: decoder) == .infinity)
        #expect(throws: DecodingError.self) { try decode(Double.self, "\"1\"", with: decoder) }
        #expect(throws: DecodingError.self) { try decode(Double.self, "\"Inf\"", with: FastJSONDecoder()) }
    }

    @Test func urlsAreStrings() throws {
        #expect(try decode([URL].self, #"["https://example.com/a?b"]"#, with: FastJSONDecoder()).first?.query() == "b")
        #expect(throws: DecodingError.self) { try decode(URL.self, "\"\"", with: FastJSONDecoder()) }
    }
}
