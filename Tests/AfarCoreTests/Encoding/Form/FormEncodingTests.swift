import AfarCore
import Foundation
import Testing

/// The encoding of each kind of value, and the properties of the encoder that a value can read while it's encoded.
@Suite("Form values")
struct FormEncodingTests {
    func plain(_ value: any Encodable, _ encoder: URLEncodedFormEncoder = URLEncodedFormEncoder()) throws -> String? {
        let text: String = try encoder.encode(value)
        return text.removingPercentEncoding
    }

    @Test("floating-point numbers can be parsed without loss")
    func floats() throws {
        struct Floats: Encodable {
            let a = Double.nan, b = Double.infinity, c = -Double.infinity, d = -0.0, e = 1e300,
                f = Double.leastNonzeroMagnitude
            let g = Float.nan, h = -Float.infinity, i = Float(0.1), j = Float16(1.5), k = CGFloat(2.25)
            let l = 9_007_199_254_740_993.0, m = 0.1 + 0.2
        }
        #expect(
            try plain(Floats())
                == "a=nan&b=inf&c=-inf&d=-0.0&e=1e+300&f=5e-324&g=nan&h=-inf&i=0.1&j=1.5&k=2.25"
                + "&l=9007199254740992.0&m=0.30000000000000004")
    }

    @Test("optional primitives are encoded like the primitive, or as nil")
    func optionals() throws {
        struct All: Encodable {
            var a: Bool?, b: String?, c: Double?, d: Float?
            var e: Int?, f: Int8?, g: Int16?, h: Int32?, i: Int64?
            var j: UInt?, k: UInt8?, l: UInt16?, m: UInt32?, n: UInt64?
            var o: Int128?, p: UInt128?, q: Date?, r: [Int]?, s: URL??
        }
        let null = URLEncodedFormEncoder(nilEncoding: .null)
        let letters = "abcdefghijklmnopqrs"
        let nulls = try plain(All(), null)
        #expect(nulls == letters.map { "\($0)=null" }.joined(separator: "&"))
        #expect(try plain(All()) == "")
        let full = All(
            a: false, b: "", c: 0.5, d: 0.5, e: 1, f: 2, g: 3, h: 4, i: 5, j: 6, k: 7, l: 8, m: 9, n: 10, o: 11, p: 12,
            q: Date(timeIntervalSinceReferenceDate: 1), r: [13], s: URL(string: "x:y"))
        #expect(
            try plain(full, null)
                == "a=0&b=&c=0.5&d=0.5&e=1&f=2&g=3&h=4&i=5&j=6&k=7&l=8&m=9&n=10&o=11&p=12&q=1.0&r[]=13&s=x:y")
    }

    @Test("every primitive can be an element of a list")
    func elements() throws {
        struct List: Encodable {
            func encode(to encoder: any Encoder) throws {
                var root = encoder.container(keyedBy: FormContainersTests.Keys.self)
                var list = root.nestedUnkeyedContainer(forKey: .a)
                try list.encode(true)
                try list.encode("s")
                try list.encode(1.5)
                try list.encode(Float(2.5))
                for value in [Int8(3), Int16(4), Int32(5), Int64(6), Int(7)] as [any Encodable] {
                    try list.encode(value)
                }
                for value in [UInt8(8), UInt16(9), UInt32(10), UInt64(11), UInt(12)] as [any Encodable] {
                    try list.encode(value)
                }
                try list.encode(Int128.min)
                try list.encode(UInt128(13))
                try list.encode(Decimal(string: "0.10"))
                try list.encode(Data([1]))
            }
        }
        #expect(
            try plain(List(), URLEncodedFormEncoder(arrayEncoding: .noBrackets))
                == "a=1&a=s&a=1.5&a=2.5&a=3&a=4&a=5&a=6&a=7&a=8&a=9&a=10&a=11&a=12"
                + "&a=-170141183460469231731687303715884105728&a=13&a=0.1&a=AQ==")
    }

    /// A value that throws an error with the encoder's coding path.
    struct Failing: Encodable {
        struct Failure: Error, Equatable { let path: [String] }
        func encode(to encoder: any Encoder) throws {
            let container = encoder.singleValueContainer()
            #expect(container.codingPath.map(\.stringValue) == encoder.codingPath.map(\.stringValue))
            throw Failure(path: encoder.codingPath.map(\.stringValue))
        }
    }

    @Test("a failing value has a coding path with the keys of its types")
    func codingPaths() throws {
        struct Outer: Encodable {
            var theList = [["one": Failing?.none], ["two": Failing()]]
        }
        final class Derived: FormContainersTests.Base {
            override func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: FormContainersTests.Keys.self)
                try Failing().encode(to: container.superEncoder(forKey: .d))
            }
        }
        let encoder = URLEncodedFormEncoder(keyEncoding: .convertToSnakeCase)
        #expect(throws: Failing.Failure(path: ["theList", "1", "two"])) { try plain(Outer(), encoder) }
        #expect(throws: Failing.Failure(path: ["k", "d"])) { try plain(["k": Derived()], encoder) }
        #expect(throws: Failing.Failure(path: [])) { try plain(Failing()) }
    }

    @Test("user info is available at every level")
    func userInfo() throws {
        let key = try #require(CodingUserInfoKey(rawValue: "test"))
        struct Reader: Encodable {
            let key: CodingUserInfoKey
            func encode(to encoder: any Encoder) throws {
                var container = encoder.singleValueContainer()
                try container.encode("\(encoder.userInfo[key] ?? "none")")
            }
        }
        let value = ["a": [["b": Reader(key: key)]]]
        #expect(try plain(value, URLEncodedFormEncoder(userInfo: [key: "found"])) == "a[][b]=found")
        #expect(try plain(value) == "a[][b]=none")
    }
}
