import AfarCore
import Foundation
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Values that would overflow the stack in Foundation's encoders throw a typed error. All other values are encoded as
/// usual.
@Suite("Nesting of encoded values") struct NestingLimitTests {
    private static let encoders: [any ParameterEncoder] = [
        JSONParameterEncoder.default, PropertyListParameterEncoder.default,
    ]

    /// An object that can reference itself.
    private final class Loop: Encodable, @unchecked Sendable {
        // Sendable because it is modified only before it is shared.
        var next: Loop?
    }

    /// An object that can reference itself through a dictionary.
    private final class Tree: Encodable, @unchecked Sendable {
        // Sendable because it is modified only before it is shared.
        var branches: [String: Tree]

        init(_ branches: [String: Tree] = [:]) {
            self.branches = branches
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(branches)
        }
    }

    /// The smallest stack size of any thread. It is larger with a sanitizer, because calls then need several times as
    /// much stack. Only Tests/Sanitizers/run sets `LSAN_OPTIONS`.
    private static let smallStack = ProcessInfo.processInfo.environment["LSAN_OPTIONS"] == nil ? 512 * 1024 : 8 << 20

    /// Encodes a value on a small stack.
    private func body(
        _ value: some Encodable & Sendable, _ encoder: any ParameterEncoder, stack: Int = smallStack
    ) throws -> Data? {
        let url = try #require(URL(string: "http://h/"))
        return try ParameterNestingErrorTests.onStack(of: stack) {
            try encoder.encode(value, into: URLRequest(url: url)).httpBody
        }
    }

    private func refusal(_ value: some Encodable & Sendable, _ encoder: any ParameterEncoder) -> String?? {
        let error = #expect(throws: AFError.self) { try body(value, encoder) }
        return (error?.underlyingError as? AFError.ParameterNestingError).map { $0.parameter }
    }

    @Test("objects can be nested up to the limit", arguments: encoders)
    func objects(encoder: any ParameterEncoder) throws {
        let limit = AFError.ParameterNestingError.limit
        #expect(try body(ParameterNestingErrorTests.Chain(levels: limit), encoder) != nil)
        #expect(refusal(ParameterNestingErrorTests.Chain(levels: limit + 1), encoder) == .some(.some("next")))
        #expect(refusal(ParameterNestingErrorTests.Chain(levels: 2000), encoder) == .some(.some("next")))
    }

    @Test("dictionaries and arrays can be nested up to the limit", arguments: encoders)
    func collections(encoder: any ParameterEncoder) throws {
        func tree(_ levels: Int) -> Tree { (1..<levels).reduce(Tree()) { inner, _ in Tree(["b": inner]) } }
        let limit = AFError.ParameterNestingError.limit
        #expect(try body(tree(limit), encoder, stack: 8 << 20) != nil)
        #expect(throws: AFError.self) { try body(tree(limit + 1), encoder, stack: 8 << 20) }
        // Much deeper values would overflow the stack when they are released.
        #expect(refusal(tree(300), encoder) == .some(.some("b")))
        #expect(try body(tree(limit - 1).branches, encoder, stack: 8 << 20) != nil)
        struct Deep: Encodable {
            let levels: Int

            func encode(to encoder: any Encoder) throws {
                var container = encoder.unkeyedContainer()
                if levels > 2 { try container.encode(Deep(levels: levels - 1)) } else { try container.encode([1, 2]) }
            }
        }
        #expect(try body(Deep(levels: limit), encoder) != nil)
        #expect(refusal(Deep(levels: limit + 1), encoder) != nil)
    }

    @Test("values that contain themselves are rejected", arguments: encoders)
    func cycles(encoder: any ParameterEncoder) {
        let loop = Loop()
        loop.next = loop
        defer { loop.next = nil }
        #expect(refusal(["tree": [loop]], encoder) == .some(.some("tree")))
        let tree = Tree()
        tree.branches = ["a": tree]
        defer { tree.branches = [:] }
        #expect(refusal(["tree": tree], encoder) == .some(.some("tree")))
    }

    @Test("wrappers without keys count, too", arguments: encoders)
    func wrappers(encoder: any ParameterEncoder) throws {
        let deep = (0..<5000).reduce(ParameterNestingErrorTests.Wrapped.value) { inner, _ in .wrapper(inner) }
        #expect(refusal(["w": deep], encoder) != nil)
        let shallow = (0..<20).reduce(ParameterNestingErrorTests.Wrapped.value) { inner, _ in .wrapper(inner) }
        #expect(try body(["w": shallow], encoder) != nil)
    }

    @Test("manual containers count, too, even if they are empty", arguments: encoders)
    func containers(encoder: any ParameterEncoder) {
        #expect(refusal(ParameterNestingErrorTests.Containers(levels: 20_000), encoder) != nil)
        #expect(refusal(ParameterNestingErrorTests.Containers(levels: 20_000, hasValue: true), encoder) != nil)
    }

    @Test("a value that uses a lot of stack while encoding is rejected in time", arguments: encoders)
    func fatFrames(encoder: any ParameterEncoder) {
        struct Fat: Encodable, Sendable {
            let levels: Int

            func encode(to encoder: any Encoder) throws {
                try withUnsafeTemporaryAllocation(byteCount: 16 << 10, alignment: 1) { bytes in
                    bytes.initializeMemory(as: UInt8.self, repeating: 1)
                    var container = encoder.unkeyedContainer()
                    if levels > 1 { try container.encode(Fat(levels: levels - 1)) }
                }
            }
        }
        let error = #expect(throws: AFError.self) { try body(Fat(levels: 100), encoder, stack: 512 * 1024) }
        #expect(error?.underlyingError is AFError.ParameterNestingError)
        #expect(throws: Never.self) { try body(Fat(levels: 100), encoder, stack: 8 << 20) }
    }

    @Test("ignoring the error doesn't circumvent the limit", arguments: encoders)
    func passingOver(encoder: any ParameterEncoder) {
        struct Quiet: Encodable {
            let chain: ParameterNestingErrorTests.Chain

            func encode(to encoder: any Encoder) throws {
                var container = encoder.unkeyedContainer()
                try? container.encode(chain)
                try? container.encode("fine")
            }
        }
        #expect(refusal(Quiet(chain: ParameterNestingErrorTests.Chain(levels: 2000)), encoder) != nil)
    }

    @Test("each value is encoded once", arguments: encoders)
    func once(encoder: any ParameterEncoder) throws {
        struct Counted: Encodable {
            let count: Locked<Int>

            func encode(to encoder: any Encoder) throws {
                count.withLock { $0 += 1 }
                try ["a": 1].encode(to: encoder)
            }
        }
        let count = Locked(0)
        _ = try body([Counted(count: count)], encoder)
        #expect(count.withLock { $0 } == 1)
    }

    /// A value with every type that an encoder handles specially.
    private struct Everything: Encodable, Sendable {
        enum Kind: String, Encodable, CodingKeyRepresentable { case firstKind, secondKind }
        enum Choice: Encodable { case one(Int, nameOf: String), none }
        struct Part: Encodable {
            var partName = "a/b \"ü\""
            var madeAt: Date? = Date(timeIntervalSinceReferenceDate: 1.5)
            var empty: [String: Part] = [:]
        }
        class Base: Encodable { let baseValue = Date(timeIntervalSinceReferenceDate: 2) }
        class Derived: Base {
            enum Keys: String, CodingKey { case ownValue, nestedArray, nestedObject, superValue }

            override func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: Keys.self)
                try container.encode(["aB": Data([1, 2, 3])], forKey: .ownValue)
                var array = container.nestedUnkeyedContainer(forKey: .nestedArray)
                try array.encode(Decimal(string: "0.1"))
                #expect(array.count == 1)
                var inner = array.nestedContainer(keyedBy: Keys.self)
                try inner.encode(Float(0.1), forKey: .ownValue)
                var places = array.nestedUnkeyedContainer()
                try places.encode(URL(string: "http://h/a"))
                #expect(array.count == 3)
                try ["x": 1].encode(to: array.superEncoder())
                var object = container.nestedContainer(keyedBy: Keys.self, forKey: .nestedObject)
                try object.encode(Part(), forKey: .ownValue)
                try super.encode(to: container.superEncoder())
                try super.encode(to: container.superEncoder(forKey: .superValue))
            }
        }

        var when = Date(timeIntervalSinceReferenceDate: 1)
        var someDates: [Date?] = [Date(timeIntervalSinceReferenceDate: 3)]
        var data = Data([1, 2])
        var moreData = [[Data([3])]]
        var place = URL(string: "http://h/a?b=c")
        var price = Decimal(string: "3.10")
        var id = UUID(uuidString: "8A1E3B0C-9D2F-4E5A-B6C7-0123456789AB")
        var byNames = ["aB": Part(), "cD": Part(madeAt: nil, empty: ["eF": Part()])]
        var byNumbers = [1: Part(), 20: Part()]
        var byKinds: [Kind: Date] = [.firstKind: Date(timeIntervalSinceReferenceDate: 4)]
        var inNames: [String: [String: [Part]]] = ["gH": ["iJ": [Part()]], "kL": [:]]
        var flat = ["mN": 1.5, "oP": -0.0]
        var dates = ["qR": Date(timeIntervalSinceReferenceDate: 5)]
        var some: [String: Part]? = ["sT": Part()]
        var none: [String: Part]?
        var numbers = [Int64.min, .max]
        var tables = [[1, 2], []]
        var truths: [Bool] = [true, false]
        var bytes: [UInt8] = [0, 255]
        var kinds = [Kind.secondKind]
        var choices = [Choice.one(1, nameOf: "x"), .none]
        var set: Set = ["only"]
        var range = 1...3
        nonisolated(unsafe) var classes = [Base(), Derived()]
        var small = (Int8.min, UInt64.max).1
    }

    @Test("JSON matches Foundation's output with all strategies")
    func json() throws {
        for keys in [JSONEncoder.KeyEncodingStrategy.useDefaultKeys, .convertToSnakeCase, .custom { $0[$0.count - 1] }]
        {
            for dates in [
                JSONEncoder.DateEncodingStrategy.deferredToDate, .iso8601, .millisecondsSince1970,
                .custom { date, encoder in try ["at": date.timeIntervalSinceReferenceDate].encode(to: encoder) },
            ] {
                for data in [
                    JSONEncoder.DataEncodingStrategy.base64, .deferredToData,
                    .custom { data, encoder in try data.count.encode(to: encoder) },
                ] {
                    for formatting in [JSONEncoder.OutputFormatting.sortedKeys, [.sortedKeys, .prettyPrinted]] {
                        let encoder = JSONEncoder()
                        (encoder.keyEncodingStrategy, encoder.dateEncodingStrategy) = (keys, dates)
                        (encoder.dataEncodingStrategy, encoder.outputFormatting) = (data, formatting)
                        let body = try body(Everything(), JSONParameterEncoder(encoder: encoder))
                        let expected = try encoder.encode(Everything())
                        #expect(
                            body.map { String(decoding: $0, as: UTF8.self) }
                                == String(decoding: expected, as: UTF8.self))
                    }
                }
            }
        }
    }

    @Test("key strategies receive the same coding paths")
    func paths() throws {
        func paths(_ encode: (JSONEncoder) throws -> Void) rethrows -> Set<String> {
            let paths = Locked<Set<String>>([])
            let encoder = JSONEncoder()
            encoder.keyEncodingStrategy = .custom { path in
                paths.withLock { _ = $0.insert(path.map(\.stringValue).joined(separator: "/")) }
                return path[path.count - 1]
            }
            try encode(encoder)
            return paths.withLock { $0 }
        }
        let own = try paths { _ = try body(Everything(), JSONParameterEncoder(encoder: $0)) }
        #expect(try own == paths { _ = try $0.encode(Everything()) })
        #expect(own.contains { $0.split(separator: "/").count > 3 })
    }

    @Test(
        "property lists match Foundation's output",
        arguments: [PropertyListSerialization.PropertyListFormat.xml, .binary])
    func propertyLists(format: PropertyListSerialization.PropertyListFormat) throws {
        let encoder = PropertyListEncoder()
        encoder.outputFormat = format
        let body = try #require(try body(Everything(), PropertyListParameterEncoder(encoder: encoder)))
        let read = { try PropertyListSerialization.propertyList(from: $0, format: nil) as? NSDictionary }
        let own = try read(body)
        #expect(own != nil)
        #expect(try own == read(encoder.encode(Everything())))
    }

    @Test("top-level values that aren't objects match Foundation's output")
    func roots() throws {
        let encoder = JSONParameterEncoder(encoder: JSONEncoder())
        func same(_ value: some Encodable & Sendable) throws -> Bool {
            try body(value, encoder) == encoder.encoder.encode(value)
        }
        #expect(try same(1))
        #expect(try same("x"))
        #expect(try same(Date(timeIntervalSinceReferenceDate: 1)))
        #expect(try same(URL(string: "http://h/")))
        #expect(try same(Decimal(1)))
        #expect(try same([1, 2]))
        #expect(try same(["aB": 1]))
        #expect(try same([Date?.none]))
        #expect(try same(Everything.Kind.firstKind))
        #expect(try same([Int128.max]))
        #expect(try same(["a": [UInt128.max]]))
    }

    @Test(
        "errors match those of Foundation",
        arguments: [JSONParameterEncoder.default, PropertyListParameterEncoder.default] as [any ParameterEncoder])
    func errors(encoder: any ParameterEncoder) throws {
        struct Nothing: Encodable, Sendable { func encode(to encoder: any Encoder) {} }
        let error = #expect(throws: AFError.self) { try body(Nothing(), encoder) }
        let expected =
            encoder is JSONParameterEncoder
            ? #expect(throws: EncodingError.self) { try JSONEncoder().encode(Nothing()) }
            : #expect(throws: EncodingError.self) { try PropertyListEncoder().encode(Nothing()) }
        guard case .invalidValue(let value, let context) = try #require(error?.underlyingError as? EncodingError),
            case .invalidValue(_, let expectedContext) = try #require(expected)
        else { return }
        #expect(value is Nothing)
        #expect(context.debugDescription == expectedContext.debugDescription)
        #expect(!context.debugDescription.contains("NestingLimited"))

        struct Own: Error {}
        struct Failing: Encodable, Sendable { func encode(to encoder: any Encoder) throws { throw Own() } }
        let failed = #expect(throws: AFError.self) { try body(["a": Failing()], encoder) }
        #expect(encoder is PropertyListParameterEncoder || failed?.underlyingError is Own)
        #expect(!"\(String(describing: failed))".contains("NestingLimited"))
        #expect(throws: AFError.self) { try body(["a": Double.nan], JSONParameterEncoder.default) }
    }

    @Test("an encoder's user info is available at every level", arguments: [true, false])
    func userInfo(isJSON: Bool) throws {
        let key = try #require(CodingUserInfoKey(rawValue: "k"))
        struct Reader: Encodable, Sendable {
            func encode(to encoder: any Encoder) throws {
                var container = encoder.singleValueContainer()
                try container.encode(encoder.userInfo.values.map { "\($0)" })
            }
        }
        let (json, list) = (JSONEncoder(), PropertyListEncoder())
        json.userInfo[key] = "told"
        list.userInfo[key] = "told"
        let encoder: any ParameterEncoder =
            isJSON ? JSONParameterEncoder(encoder: json) : PropertyListParameterEncoder(encoder: list)
        let body = try #require(try body(["a": [Reader()]], encoder))
        #expect(String(decoding: body, as: UTF8.self).contains("told"))
    }
}
