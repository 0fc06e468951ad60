import AfarJSON
import AfarSerializers
import AfarTransport
import Foundation
import Testing

@Suite struct FastJSONDecoderTests {
    private func decode<T: Decodable>(
        _ type: T.Type, _ text: String, with decoder: FastJSONDecoder = FastJSONDecoder()
    ) throws -> T {
        try decoder.decode(type, from: Data(text.utf8))
    }

    @Test func aValueIsDecoded() throws {
        struct User: Decodable, Equatable { let id: Int, name: String, tags: [String], score: Double? }
        #expect(
            try decode(User.self, #"{"id": 7, "name": "Ada\n\u00e9\ud83d\ude00", "tags": ["a", "b"]}"#)
                == User(id: 7, name: "Ada\né😀", tags: ["a", "b"], score: nil))
    }

    // MARK: Numbers

    @Test func integersOf128BitsAreExact() throws {
        let largest = "170141183460469231731687303715884105727"
        #expect(try decode(Int128.self, largest) == Int128.max)
        #expect(try decode([Int128].self, "[-\(largest)]") == [-Int128.max])
        #expect(try decode(UInt128.self, "340282366920938463463374607431768211455") == UInt128.max)
        #expect(throws: DecodingError.self) { try decode(Int128.self, "170141183460469231731687303715884105728") }
    }

    @Test func integersCanHaveAZeroFractionOrAnExponent() throws {
        #expect(
            try decode([Int].self, "[1.0, 1e3, 12.50e1, 9007199254740993.0, -0, 0e99, 100e-2]") == [
                1, 1000, 125, 9_007_199_254_740_993, 0, 0, 1,
            ])
        for text in ["1.5", "1e-1", "1e99999999999999999999", "9223372036854775808", "-9223372036854775809"] {
            #expect(throws: DecodingError.self, "\(text)") { try decode(Int.self, text) }
        }
    }

    @Test func outOfRangeIntegersAreRejected() throws {
        #expect(try decode([UInt8].self, "[0, 255]") == [0, 255])
        for text in ["256", "-1", "0.5"] {
            #expect(throws: DecodingError.self, "\(text)") { try decode(UInt8.self, text) }
        }
        #expect(try decode(UInt64.self, "18446744073709551615") == .max)
        #expect(try decode(Int8.self, "-128") == .min)
    }

    @Test func decimalsAreExactOrRejected() throws {
        let digits = "1234567890123456789.0123456789012345678"
        #expect(try decode(Decimal.self, digits) == Decimal(string: digits))
        #expect("\(try decode(Decimal.self, "0.1"))" == "0.1")
        #expect(try decode(Decimal.self, "-1.50e2") == -150)
        for (text, alike) in [
            ("1e130", "1000e127"), ("-5e128", "-50e127"), ("12e-128", "12e-128"),
            ("1e164", "1" + String(repeating: "0", count: 37) + "e127"),
        ] {
            let decimal = try decode(Decimal.self, text)
            #expect(decimal.isFinite && decimal == Decimal(string: alike), "\(text)")
        }
        for text in ["0.1234567890123456789012345678901234567890123", "1e400", "1e165", "12e164", "1e-130", "-1e-129"] {
            #expect(throws: DecodingError.self, "\(text)") { try decode(Decimal.self, text) }
        }
    }

    @Test(arguments: [
        "0.1", "1.7976931348623157e308", "5e-324", "2.2250738585072014e-308", "9007199254740993",
        "123456789012345678901234567890",
        "0.30000000000000004", "1e22", "1e23", "-0.0", "8.5e-10", "12345678901234567890.5", "4503599627370496.5",
    ])
    func doublesAreCorrectlyRounded(text: String) throws {
        let expected = try #require(Double(text))
        #expect(try decode(Double.self, text).bitPattern == expected.bitPattern)
        #expect(try decode(Float.self, "0.1") == 0.1)
    }

    @Test func numbersBeyondDoublesAreRejected() {
        for text in ["1e309", "-1e309", "1e-400"] {
            #expect(throws: DecodingError.self, "\(text)") { try decode(Double.self, text) }
        }
        #expect(throws: DecodingError.self) { try decode(Float.self, "1e39") }
    }

    // MARK: Containers

    @Test func membersAreFoundInAnyOrder() throws {
        struct Three: Decodable, Equatable { let a: Int, b: Int, c: Int }
        for text in [
            #"{"a":1,"b":2,"c":3}"#, #"{"c":3,"b":2,"a":1}"#, #"{"x":[{"a":9}],"b":2,"c":3,"y":{"b":9},"a":1}"#,
        ] {
            #expect(try decode(Three.self, text) == Three(a: 1, b: 2, c: 3))
        }
    }

    @Test func namesCanBeEscaped() throws {
        #expect(try decode([String: Int].self, #"{"\u0061\n":1}"#) == ["a\n": 1])
        struct One: Decodable { let name: Int }
        #expect(try decode(One.self, #"{"n\u0061me":1}"#).name == 1)
    }

    @Test func keysOfAllKindsAreFound() throws {
        struct Open: CodingKey, Hashable {
            let stringValue: String
            var intValue: Int? { nil }
            init(stringValue: String) { self.stringValue = stringValue }
            init?(intValue: Int) { nil }
        }
        struct Members: Decodable {
            let all: [String: Int]
            init(from decoder: any Decoder) throws {
                let container = try decoder.container(keyedBy: Open.self)
                all = try container.allKeys.reduce(into: [:]) { all, key in
                    #expect(container.contains(key))
                    all[key.stringValue] = try container.decode(Int.self, forKey: key)
                }
                #expect(!container.contains(Open(stringValue: "missing")))
            }
        }
        let names = (0..<1_000).map { "key \($0)" }
        let text = "{" + names.map { "\"\($0)\":\($0.count)" }.joined(separator: ",") + "}"
        #expect(try decode(Members.self, text).all == Dictionary(uniqueKeysWithValues: names.map { ($0, $0.count) }))
        struct Single: Decodable { let only: Int }
        #expect(try decode(Single.self, #"{"other":1,"only":2}"#).only == 2)
        #expect(try decode([Int: String].self, #"{"1":"one"}"#) == [1: "one"])
    }

    /// Existing members can be requested in any order. Missing members aren't found.
    @Test func membersOfLargeObjectsAreFoundInAnyOrder() throws {
        struct Picker: Decodable {
            let sum: Int
            init(from decoder: any Decoder) throws {
                let container = try decoder.container(keyedBy: AnyKey.self)
                let keys = container.allKeys
                sum = try keys.reversed().reduce(0) { try $0 + container.decode(Int.self, forKey: $1) }
                for key in keys { #expect(!container.contains(AnyKey(key.stringValue + "_unit"))) }
            }
        }
        let numbers = Array(1...2_000)
        let text = "{" + numbers.map { "\"\($0)\":\($0)" }.joined(separator: ",") + "}"
        #expect(try decode(Picker.self, text).sum == numbers.reduce(0, +))
        #expect(try decode(Picker.self, text.dropLast() + ",\"7\":0}").sum == numbers.reduce(0, +))
        let last = FastJSONDecoder(duplicateKeyStrategy: .useLast)
        #expect(try decode(Picker.self, text.dropLast() + ",\"7\":0}", with: last).sum == numbers.reduce(0, +) - 7)
    }

    private struct AnyKey: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(_ name: String) { stringValue = name }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    @Test func aTypeKnownOnlyAtRunTimeIsDecoded() throws {
        class Base: Decodable {}
        final class Derived: Base {}
        let type: Base.Type = Derived.self
        #expect(try decode(type, "{}") is Derived)
    }

    @Test func namesThatAreEqualInSwiftAreEqual() throws {
        struct Menu: Decodable { let café: Int }
        let decomposed = "{\"cafe\u{301}\":1}"
        #expect(try decode(Menu.self, decomposed).café == 1)
        let both = "{\"cafe\u{301}\":1,\"caf\u{E9}\":2}"
        #expect(try decode(Menu.self, both).café == 1)
        #expect(try decode([String: Int].self, both) == ["café": 1])
        #expect(
            try decode([String: Int].self, both, with: FastJSONDecoder(duplicateKeyStrategy: .useLast)) == ["café": 2])
        let strict = FastJSONDecoder(duplicateKeyStrategy: .reject)
        #expect(throws: DecodingError.self) { try decode(Menu.self, both, with: strict) }
        #expect(throws: DecodingError.self) { try decode([String: Int].self, both, with: strict) }
    }

    @Test func nestedContainersAndSuperDecodersWork() throws {
        class Base: Decodable {
            let id: Int
            enum CodingKeys: String, CodingKey { case id }
            required init(from decoder: any Decoder) throws {
                id = try decoder.container(keyedBy: CodingKeys.self).decode(Int.self, forKey: .id)
            }
        }
        final class Derived: Base {
            let sum: Int
            let street: String
            let rest: Int
            enum CodingKeys: String, CodingKey { case list, place }
            enum PlaceKeys: String, CodingKey { case street }
            required init(from decoder: any Decoder) throws {
                let container = try decoder.container(keyedBy: CodingKeys.self)
                var list = try container.nestedUnkeyedContainer(forKey: .list)
                #expect(list.count == 4)
                var sum = try list.decode(Int.self)
                var inner = try list.nestedUnkeyedContainer()
                while !inner.isAtEnd { sum += try inner.decode(Int.self) }
                #expect(try list.decodeNil())
                rest = try list.superDecoder().singleValueContainer().decode(Int.self)
                #expect(list.isAtEnd)
                self.sum = sum
                street = try container.nestedContainer(keyedBy: PlaceKeys.self, forKey: .place)
                    .decode(String.self, forKey: .street)
                try super.init(from: container.superDecoder())
            }
        }
        let value = try decode(Derived.self, #"{"list":[1,[2,3],null,4],"place":{"street":"S"},"super":{"id":7}}"#)
        #expect((value.sum, value.street, value.rest) == (6, "S", 4))
        #expect(value.id == 7)
    }

    @Test func userInfoReachesTypes() throws {
        let key = try #require(CodingUserInfoKey(rawValue: "factor"))
        struct Scaled: Decodable {
            let value: Int
            init(from decoder: any Decoder) throws {
                let factor = CodingUserInfoKey(rawValue: "factor").flatMap { decoder.userInfo[$0] } as? Int ?? 1
                value = try decoder.singleValueContainer().decode(Int.self) * factor
            }
        }
        #expect(try decode(Scaled.self, "2", with: FastJSONDecoder(userInfo: [key: 21])).value == 42)
    }

    // MARK: Duplicate names

    @Test func theFirstOfEqualNamesIsUsedByDefault() throws {
        struct Pair: Decodable, Equatable { let b: Int, a: Int }
        let text = #"{"a":1,"b":2,"\u0061":3,"c":{"a":4}}"#
        #expect(try decode(Pair.self, text) == Pair(b: 2, a: 1))
        #expect(try decode(Pair.self, text, with: FastJSONDecoder(duplicateKeyStrategy: .useLast)) == Pair(b: 2, a: 3))
        let numbers = #"{"a":1,"a":2,"b":3}"#
        #expect(try decode([String: Int].self, numbers) == ["a": 1, "b": 3])
        #expect(
            try decode([String: Int].self, numbers, with: FastJSONDecoder(duplicateKeyStrategy: .useLast))
                == ["a": 2, "b": 3])
        // Values that are ignored can have any type.
        #expect(
            try decode([String: Int].self, #"{"a":"x","a":2}"#, with: FastJSONDecoder(duplicateKeyStrategy: .useLast))
                == ["a": 2])
    }

    @Test func equalNamesCanBeRejected() throws {
        let strict = FastJSONDecoder(duplicateKeyStrategy: .reject)
        struct Inner: Decodable { let a: Int }
        let error = #expect(throws: DecodingError.self) {
            try decode([Inner].self, "[{\"a\":1},\n {\"a\":1,\n  \"a\":2}]", with: strict)
        }
        #expect(error?.context?.codingPath.map(\.stringValue) == ["Index 1"])
        #expect(error?.location?.line == 3 && error?.location?.column == 3)
        #expect(throws: DecodingError.self) { try decode([String: Int].self, #"{"a":1,"a":2}"#, with: strict) }
        #expect(try decode([[String: Int]].self, #"[{"a":1},{"a":2}]"#, with: strict).count == 2)
    }

    // MARK: Errors

    @Test func errorsNameThePathTheLineAndTheColumn() throws {
        struct User: Decodable { let id: Int, pets: [Pet] }
        struct Pet: Decodable { let name: String, age: UInt8 }
        let text =
            "{\"id\": 1, \"pets\": [\n  {\"name\": \"Grüße\", \"age\": 3},\n  {\"name\": \"é\", \"age\": 300}\n]}"

        let number = #expect(throws: DecodingError.self) { try decode(User.self, text) }

        #expect(number?.context?.codingPath.map(\.stringValue) == ["pets", "Index 1", "age"])
        #expect(number?.context?.codingPath.map(\.intValue) == [nil, 1, nil])
        #expect(number?.location?.line == 3)
        #expect(number?.location?.column == 24)
        #expect(number?.context?.debugDescription.contains("300 is not a value of UInt8 at line 3, column 24") == true)

        let kind = #expect(throws: DecodingError.self) { try decode([User].self, "[{\"id\": \"1\", \"pets\": []}]") }
        guard case .typeMismatch(let type, let context)? = kind else { throw try #require(kind) }
        #expect(ObjectIdentifier(type) == ObjectIdentifier(Int.self))
        #expect(context.debugDescription.hasPrefix("Expected Int but found a string at line 1, column 9"))

        let missing = #expect(throws: DecodingError.self) { try decode([User].self, "[\n{\"id\": 1}]") }
        guard case .keyNotFound(let key, let context)? = missing else { throw try #require(missing) }
        #expect(key.stringValue == "pets")
        #expect(context.codingPath.map(\.stringValue) == ["Index 0"])
        #expect(missing?.location?.line == 2)

        let null = #expect(throws: DecodingError.self) { try decode([Int].self, "[1,null]") }
        guard case .valueNotFound? = null else { throw try #require(null) }
        #expect(null?.context?.codingPath.map(\.intValue) == [1])
    }

    @Test func pathsHaveConvertedNames() throws {
        struct Outer: Decodable { let innerValue: Inner }
        struct Inner: Decodable { let theNumber: Int }
        let error = #expect(throws: DecodingError.self) {
            try decode(
                Outer.self, #"{"inner_value":{"the_number":"x"}}"#,
                with: FastJSONDecoder(keyDecodingStrategy: .convertFromSnakeCase))
        }
        #expect(error?.context?.codingPath.map(\.stringValue) == ["innerValue", "theNumber"])
    }

    @Test func pathsContainUnconvertedDictionaryKeys() throws {
        let error = #expect(throws: DecodingError.self) {
            try decode(
                [String: [Int]].self, #"{"foo_bar":[1,"x"]}"#,
                with: FastJSONDecoder(keyDecodingStrategy: .convertFromSnakeCase))
        }
        #expect(error?.context?.codingPath.map(\.stringValue) == ["foo_bar", "Index 1"])
    }

    @Test func missingValuesHaveAPathAndALocation() throws {
        class Base: Decodable {
            let id: Int
            enum CodingKeys: CodingKey { case id }
            required init(from decoder: any Decoder) throws {
                id = try decoder.container(keyedBy: CodingKeys.self).decode(Int.self, forKey: .id)
            }
        }
        final class Derived: Base {
            enum CodingKeys: CodingKey { case other }
            required init(from decoder: any Decoder) throws {
                try super.init(from: decoder.container(keyedBy: CodingKeys.self).superDecoder())
            }
        }
        let error = #expect(throws: DecodingError.self) { try decode([Derived].self, "[\n  {\"other\":1}]") }
        #expect(error?.context?.codingPath.map(\.stringValue) == ["Index 0", "super"])
        #expect(error?.location?.line == 2 && error?.location?.column == 3)
    }

    // MARK: Stack use

    /// The document determines how deeply values are nested. If the stack is too small, decoding throws an error.
    @Test(.disabled(if: ProcessInfo.processInfo.environment["ASAN_OPTIONS"] != nil, "It makes stack frames larger."))
    func deepValuesDoNotOverflowTheStack() throws {
        struct Tree: Decodable { let children: [Tree]? }
        let text = String(repeating: "{\"children\":[", count: 250) + String(repeating: "]}", count: 250)
        for size in [128 << 10, 256 << 10, 512 << 10, 8 << 20] {
            let result = try SmallStack.run(size) { try FastJSONDecoder().decode(Tree.self, from: Data(text.utf8)) }
            if case .failure(let error) = result {
                #expect("\(error)".contains("the stack of this thread"))
                #expect(size < 8 << 20)
            }
        }
    }

    private enum SmallStack {
        /// Runs a closure on a dedicated thread and waits for it.
        static func run<Value: Sendable>(
            _ size: Int, _ work: @escaping @Sendable () throws -> Value
        ) throws -> Result<Value, any Error> {
            let outcome = Locked<Result<Value, any Error>?>(nil)
            let isOver = DispatchSemaphore(value: 0)
            let thread = Thread {
                let result = Result { try work() }
                outcome.withLock { $0 = result }
                isOver.signal()
            }
            thread.stackSize = size
            thread.start()
            isOver.wait()
            return try #require(outcome.withLock { $0 })
        }
    }

    // MARK: Retained decoders

    @Test func aDecoderUsedAfterItsEndThrows() throws {
        struct Keeper: Decodable {
            let decoder: any Decoder
            let keyed: KeyedDecodingContainer<Key>
            let list: any UnkeyedDecodingContainer
            enum Key: String, CodingKey { case list }
            init(from decoder: any Decoder) throws {
                self.decoder = decoder
                keyed = try decoder.container(keyedBy: Key.self)
                list = try keyed.nestedUnkeyedContainer(forKey: .list)
            }
        }
        let kept = try decode(Keeper.self, #"{"list":[1]}"#)
        _ = try decode([String: [Int]].self, #"{"other":[2]}"#)

        #expect(throws: DecodingError.self) { try kept.decoder.container(keyedBy: Keeper.Key.self) }
        #expect(throws: DecodingError.self) { try kept.decoder.singleValueContainer().decode(Int.self) }
        #expect(throws: DecodingError.self) { try kept.keyed.decode([Int].self, forKey: .list) }
        var list = kept.list
        #expect(throws: DecodingError.self) { try list.decode(Int.self) }
        #expect(kept.keyed.allKeys.isEmpty && !kept.keyed.contains(.list) && kept.decoder.codingPath.isEmpty)
    }

    @Test func decodersCanBeNested() throws {
        struct Outer: Decodable {
            let inner: [Int]
            let after: Int
            enum CodingKeys: CodingKey { case inner, after }
            init(from decoder: any Decoder) throws {
                let container = try decoder.container(keyedBy: CodingKeys.self)
                let text = try container.decode(String.self, forKey: .inner)
                inner = try FastJSONDecoder().decode([Int].self, from: Data(text.utf8))
                after = try container.decode(Int.self, forKey: .after)
            }
        }
        let value = try decode(Outer.self, #"{"inner":"[1,2]","after":3}"#)
        #expect((value.inner, value.after) == ([1, 2], 3))
    }

    @Test func manyThreadsDecodeConcurrently() async throws {
        struct Item: Decodable, Equatable { let id: Int, name: String }
        try await withThrowingTaskGroup { group in
            for task in 0..<16 {
                group.addTask {
                    for round in 0..<200 {
                        let id = task * 1_000 + round
                        let items = try FastJSONDecoder().decode(
                            [Item].self, from: Data(#"[{"name":"item \#(id)","id":\#(id)}]"#.utf8))
                        #expect(items == [Item(id: id, name: "item \(id)")])
                    }
                }
            }
            try await group.waitForAll()
        }
    }
}

extension DecodingError {
    /// The context of any kind of decoding error.
    var context: Context? {
        switch self {
        case .typeMismatch(_, let context), .valueNotFound(_, let context), .keyNotFound(_, let context),
            .dataCorrupted(let context):
            context
        @unknown default: nil
        }
    }

    var location: JSONLocation? { context?.underlyingError as? JSONLocation }
}
