import AfarCore
import Foundation
import Testing

/// The output of `URLEncodedFormEncoder`'s containers and super encoders, without percent-encoding.
@Suite("Form containers")
struct FormContainersTests {
    enum Keys: CodingKey { case a, b, c, d }

    /// A value that a closure encodes.
    struct Written: Encodable {
        let write: (any Encoder) throws -> Void
        func encode(to encoder: any Encoder) throws { try write(encoder) }
    }

    func plain(indexed: Bool = true, _ write: @escaping (any Encoder) throws -> Void) throws -> String? {
        let encoder = URLEncodedFormEncoder(arrayEncoding: indexed ? .indexInBrackets : .brackets)
        let text: String = try encoder.encode(Written(write: write))
        return text.removingPercentEncoding
    }

    @Test("manually nested objects and lists")
    func nesting() throws {
        let text = try plain { encoder in
            var root = encoder.container(keyedBy: Keys.self)
            var object = root.nestedContainer(keyedBy: Keys.self, forKey: .a)
            try object.encode("x", forKey: .b)
            var list = root.nestedUnkeyedContainer(forKey: .b)
            try list.encode(1)
            var inner = list.nestedUnkeyedContainer()
            try inner.encode(true)
            try inner.encode(contentsOf: ["y", "z"])
            var fields = list.nestedContainer(keyedBy: Keys.self)
            try fields.encode(2, forKey: .c)
            try list.encodeNil()
            #expect(list.count == 4)
            #expect(inner.count == 3)
        }
        #expect(text == "a[b]=x&b[0]=1&b[1][0]=1&b[1][1]=y&b[1][2]=z&b[2][c]=2")
    }

    @Test("a container that is requested twice continues after the existing elements")
    func twice() throws {
        let text = try plain { encoder in
            var first = encoder.container(keyedBy: Keys.self)
            var object = first.nestedContainer(keyedBy: Keys.self, forKey: .a)
            var list = first.nestedUnkeyedContainer(forKey: .b)
            try object.encode(1, forKey: .a)
            try list.encode("x")
            var second = encoder.container(keyedBy: Keys.self)
            var objectAgain = second.nestedContainer(keyedBy: Keys.self, forKey: .a)
            var listAgain = second.nestedUnkeyedContainer(forKey: .b)
            #expect(listAgain.count == 1)
            try objectAgain.encode(2, forKey: .b)
            try listAgain.encode("y")
            try object.encode(3, forKey: .c)
            try list.encode("z")
        }
        #expect(text == "a[a]=1&a[b]=2&a[c]=3&b[0]=x&b[1]=y&b[2]=z")
    }

    @Test("a second value for the same key replaces the first one completely")
    func replaces() throws {
        let text = try plain { encoder in
            var root = encoder.container(keyedBy: Keys.self)
            try root.encode([1, 2], forKey: .a)
            try root.encode([3], forKey: .a)
            try root.encode(["x": 1], forKey: .b)
            try root.encode(["y": 2], forKey: .b)
            try root.encode("text", forKey: .c)
            try root.encode(["z": 3], forKey: .c)
            try root.encode([4], forKey: .d)
            try root.encodeNil(forKey: .d)
        }
        #expect(text == "a[0]=3&b[y]=2&c[z]=3")
    }

    @Test("requesting a different kind of container discards nothing before a value is encoded")
    func anotherKind() throws {
        let text = try plain { encoder in
            var root = encoder.container(keyedBy: Keys.self)
            try root.encode(["x": 1], forKey: .a)
            _ = root.nestedUnkeyedContainer(forKey: .a)
            try root.encode([1], forKey: .b)
            _ = root.nestedContainer(keyedBy: Keys.self, forKey: .b)
            try root.encode("t", forKey: .c)
            _ = root.superEncoder(forKey: .c).unkeyedContainer()
        }
        #expect(text == "a[x]=1&b[0]=1&c=t")
    }

    class Base: Encodable {
        let a = 1
    }

    @Test("a superclass's fields are next to the subclass's, however they are encoded")
    func inheritance() throws {
        final class Direct: Base {
            override func encode(to encoder: any Encoder) throws {
                try super.encode(to: encoder)
                var container = encoder.container(keyedBy: Keys.self)
                try container.encode([2], forKey: .b)
            }
        }
        final class BySuperEncoder: Base {
            override func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: Keys.self)
                try container.encode([2], forKey: .b)
                try super.encode(to: container.superEncoder())
            }
        }
        final class UnderAKey: Base {
            override func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: Keys.self)
                try container.encode([2], forKey: .b)
                try super.encode(to: container.superEncoder(forKey: .c))
            }
        }
        #expect(try plain { try Direct().encode(to: $0) } == "a=1&b[0]=2")
        #expect(try plain { try BySuperEncoder().encode(to: $0) } == "a=1&b[0]=2")
        #expect(try plain { try UnderAKey().encode(to: $0) } == "b[0]=2&c[a]=1")
        #expect(try plain { try ["k": [BySuperEncoder()]].encode(to: $0) } == "k[0][a]=1&k[0][b][0]=2")
    }

    @Test("the super encoder of a list appends an element")
    func superOfAList() throws {
        let text = try plain { encoder in
            var root = encoder.container(keyedBy: Keys.self)
            var list = root.nestedUnkeyedContainer(forKey: .a)
            try list.encode(1)
            try Base().encode(to: list.superEncoder())
            var single = list.superEncoder().singleValueContainer()
            try single.encode("last")
            #expect(list.count == 3)
        }
        #expect(text == "a[0]=1&a[1][a]=1&a[2]=last")
    }

    @Test("super encoders of the same key share an object and replace earlier text")
    func superEncodersOfOneKey() throws {
        let text = try plain { encoder in
            var root = encoder.container(keyedBy: Keys.self)
            var flat = root.superEncoder().container(keyedBy: Keys.self)
            try flat.encode("text", forKey: .a)
            var keyed = root.superEncoder(forKey: .a).container(keyedBy: Keys.self)
            try keyed.encode(2, forKey: .b)
            var list = root.nestedUnkeyedContainer(forKey: .a)
            var ofList = list.superEncoder().container(keyedBy: Keys.self)
            try ofList.encode("one", forKey: .c)
        }
        #expect(text == "a[b]=2&a[c]=one")
    }

    @Test("nested arrays keep their order and nesting")
    func arraysInArrays() throws {
        let value = ["m": [[[3, 1], [2]], [[9]], []]]
        #expect(
            try plain { try value.encode(to: $0) } == "m[0][0][0]=3&m[0][0][1]=1&m[0][1][0]=2&m[1][0][0]=9")
        #expect(try plain(indexed: false) { try value.encode(to: $0) } == "m[][][]=3&m[][][]=1&m[][][]=2&m[][][]=9")
    }

    enum Color: String, Codable, CodingKeyRepresentable { case red, green }
    enum Plain: String, Codable { case x }

    @Test("dictionaries use the keys that their key types specify")
    func dictionaryKeys() throws {
        #expect(try plain { try [10: "ten", 9: "nine"].encode(to: $0) } == "10=ten&9=nine")
        #expect(try plain { try [Color.red: 1, .green: 2].encode(to: $0) } == "green=2&red=1")
        #expect(try plain { try ["k": [UUID(): 1]].encode(to: $0) }?.hasPrefix("k[0]=") == true)
        #expect(try plain { try ["k": [Plain.x: 1]].encode(to: $0) } == "k[0]=x&k[1]=1")
        #expect(try plain { try ["k": [2: [3: 4]]].encode(to: $0) } == "k[2][3]=4")
    }
}
