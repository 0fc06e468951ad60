import AfarCore
import Foundation
import Testing

@Suite("URLEncodedFormEncoder")
struct URLEncodedFormEncoderTests {
    struct Mixed: Encodable {
        var text = "a b+c&d"
        var number = -1
        var large = UInt64.max
        var double = 1.5
        var flag = true
        var missing: String?
        var list = [3, 1, 2]
        var nested = Inner()
        var byName = ["z": 1, "y": 2]

        struct Inner: Encodable {
            var deep = [["k": "é"]]
        }
    }

    func encode(_ value: any Encodable, _ encoder: URLEncodedFormEncoder = URLEncodedFormEncoder()) throws -> String {
        try encoder.encode(value)
    }

    /// Encodes a value without percent-encoding, for readability.
    func plain(_ value: any Encodable, _ encoder: URLEncodedFormEncoder = URLEncodedFormEncoder()) throws -> String? {
        try encode(value, encoder).removingPercentEncoding
    }

    @Test("all kinds of values together")
    func mixed() throws {
        #expect(
            try encode(Mixed())
                == "byName%5By%5D=2&byName%5Bz%5D=1&double=1.5&flag=1&large=18446744073709551615"
                + "&list%5B%5D=3&list%5B%5D=1&list%5B%5D=2&nested%5Bdeep%5D%5B%5D%5Bk%5D=%C3%A9&number=-1"
                + "&text=a%20b%2Bc%26d"
        )
        let data: Data = try URLEncodedFormEncoder().encode(Mixed())
        #expect(try data == Data(encode(Mixed()).utf8))
    }

    @Test("unsorted pairs are in encoding order")
    func unsorted() throws {
        struct Pair: Encodable {
            var z = 1
            var a = 2
        }
        #expect(try encode(Pair(), URLEncodedFormEncoder(alphabetizeKeyValuePairs: false)) == "z=1&a=2")
        #expect(try encode(Pair()) == "a=2&z=1")
    }

    @Test("primitives")
    func primitives() throws {
        struct All: Encodable {
            let a = Int8.min, b = Int16.min, c = Int32.min, d = Int64.min
            let e = UInt8.max, f = UInt16.max, g = UInt32.max, h = UInt.max
            let i = Float(0.5), j = Decimal(string: "12345678901234567890.12"), k = URL(string: "https://h/?é")
            let l = UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F"), m = Int128.max
            let n = UInt128?.some(.max), o = [Int128?.some(1), nil]
        }
        #expect(
            try plain(All(), URLEncodedFormEncoder(alphabetizeKeyValuePairs: false))
                == "a=-128&b=-32768&c=-2147483648&d=-9223372036854775808&e=255&f=65535&g=4294967295"
                + "&h=18446744073709551615&i=0.5&j=12345678901234567890.12&k=https://h/?%C3%A9"
                + "&l=E621E1F8-C36C-495A-93FC-0C247A3E6E5F&m=170141183460469231731687303715884105727&n=340282366920938463463374607431768211455&o[]=1"
        )
    }

    @Test("arrays keep their order and use the selected encoding")
    func arrays() throws {
        let value = ["a": [10, 9]]
        #expect(try plain(value) == "a[]=10&a[]=9")
        #expect(try plain(value, URLEncodedFormEncoder(arrayEncoding: .noBrackets)) == "a=10&a=9")
        #expect(try plain(value, URLEncodedFormEncoder(arrayEncoding: .indexInBrackets)) == "a[0]=10&a[1]=9")
        let custom = URLEncodedFormEncoder(arrayEncoding: .custom { key, index in "\(key)-\(index)" })
        #expect(try plain(value, custom) == "a-0=10&a-1=9")
        #expect(
            try plain(["a": [[1, 2], [3]]], URLEncodedFormEncoder(arrayEncoding: .indexInBrackets))
                == "a[0][0]=1&a[0][1]=2&a[1][0]=3")
        #expect(try plain(["a": [], "b": [1]]) == "b[]=1")
    }

    @Test("booleans")
    func booleans() throws {
        let value = ["t": true, "f": false]
        #expect(try encode(value) == "f=0&t=1")
        #expect(try encode(value, URLEncodedFormEncoder(boolEncoding: .literal)) == "f=false&t=true")
        #expect(try encode(["i": 1], URLEncodedFormEncoder(boolEncoding: .literal)) == "i=1")
    }

    @Test("data")
    func data() throws {
        let value = ["d": Data([0xFB, 0xFF])]
        #expect(try encode(value) == "d=%2B/8%3D")
        #expect(try plain(value, URLEncodedFormEncoder(dataEncoding: .deferredToData)) == "d[]=251&d[]=255")
        #expect(try encode(value, URLEncodedFormEncoder(dataEncoding: .custom { "\($0.count)" })) == "d=2")
        let failing = URLEncodedFormEncoder(dataEncoding: .custom { _ in throw AFError.explicitlyCancelled })
        #expect(throws: AFError.self) { try encode(value, failing) }
    }

    @Test("dates")
    func dates() throws {
        let value = ["d": Date(timeIntervalSinceReferenceDate: 0.5)]
        #expect(try encode(value) == "d=0.5")
        #expect(try encode(value, URLEncodedFormEncoder(dateEncoding: .secondsSince1970)) == "d=978307200.5")
        #expect(try encode(value, URLEncodedFormEncoder(dateEncoding: .millisecondsSince1970)) == "d=978307200500.0")
        #expect(try plain(value, URLEncodedFormEncoder(dateEncoding: .iso8601)) == "d=2001-01-01T00:00:00Z")
        #expect(try encode(value, URLEncodedFormEncoder(dateEncoding: .custom { _ in "now" })) == "d=now")
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(secondsFromGMT: 0)
        formatter.dateFormat = "yyyy/MM"
        #expect(try encode(value, URLEncodedFormEncoder(dateEncoding: .formatted(formatter))) == "d=2001/01")
        let endless = ["d": Date(timeIntervalSince1970: .infinity)]
        #expect(try encode(endless, URLEncodedFormEncoder(dateEncoding: .iso8601)).hasPrefix("d="))
    }

    @Test(
        "keys",
        arguments: [
            (URLEncodedFormEncoder.KeyEncoding.useDefaultKeys, "oneTwoURLs3Xé"),
            (.convertToSnakeCase, "one_two_ur_ls3_xé"),
            (.convertToKebabCase, "one-two-ur-ls3-xé"), (.capitalized, "OneTwoURLs3Xé"), (.uppercased, "ONETWOURLS3XÉ"),
            (.lowercased, "onetwourls3xé"), (.custom { "<\($0)>" }, "<oneTwoURLs3Xé>"),
        ])
    func keys(encoding: URLEncodedFormEncoder.KeyEncoding, key: String) throws {
        #expect(try plain(["oneTwoURLs3Xé": 1], URLEncodedFormEncoder(keyEncoding: encoding)) == "\(key)=1")
        #expect(
            try plain(["a": ["oneTwoURLs3Xé": 1]], URLEncodedFormEncoder(keyEncoding: encoding))?
                .contains("[\(key)]=1") == true)
    }

    @Test(
        "splitting keys into words",
        arguments: [
            ("", ""), ("a", "a"), ("A", "a"), ("URL", "url"), ("myURLLoader", "my_url_loader"), ("userID", "user_id"),
            ("isA", "is_a"), ("HTTPServer", "http_server"), ("already_snake", "already_snake"),
            ("_private", "_private"),
        ])
    func snakeCase(key: String, words: String) throws {
        #expect(try plain([key: 1], URLEncodedFormEncoder(keyEncoding: .convertToSnakeCase)) == "\(words)=1")
    }

    @Test("key paths")
    func keyPaths() throws {
        let value = ["a": ["b": ["c": 1]]]
        #expect(try plain(value) == "a[b][c]=1")
        #expect(try encode(value, URLEncodedFormEncoder(keyPathEncoding: .dots)) == "a.b.c=1")
        #expect(try plain(value, URLEncodedFormEncoder(keyPathEncoding: .init { "/\($0)" })) == "a/b/c=1")
        #expect(try plain(["a": [["b": 1]]], URLEncodedFormEncoder(keyPathEncoding: .dots)) == "a[].b=1")
    }

    @Test(
        "nil in objects, dictionaries and arrays",
        arguments: [
            (URLEncodedFormEncoder.NilEncoding.dropKey, "a[0]=1&a[1]=2"),
            (.dropValue, "a[0]=1&a[1]=&a[2]=2&b=&c="), (.null, "a[0]=1&a[1]=null&a[2]=2&b=null&c=null"),
            (.init { "-" }, "a[0]=1&a[1]=-&a[2]=2&b=-&c=-"),
        ])
    func nils(encoding: URLEncodedFormEncoder.NilEncoding, text: String) throws {
        struct Value: Encodable {
            enum CodingKeys: CodingKey { case a, b, c }
            func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: CodingKeys.self)
                try container.encode([1, nil, 2] as [Int?], forKey: .a)
                try container.encodeIfPresent(nil as Date?, forKey: .b)
                try container.encodeNil(forKey: .c)
            }
        }
        let encoder = URLEncodedFormEncoder(arrayEncoding: .indexInBrackets, nilEncoding: encoding)
        #expect(try plain(Value(), encoder) == text)
    }

    @Test("a top-level nil is encoded as nothing")
    func nilRoot() throws {
        #expect(try encode(Mixed?.none) == "")
        #expect(try encode([String: Int]()) == "")
    }

    @Test("spaces and allowed characters")
    func spaces() throws {
        let value = ["a key": "x + y"]
        #expect(try encode(value) == "a%20key=x%20%2B%20y")
        #expect(try encode(value, URLEncodedFormEncoder(spaceEncoding: .plusReplaced)) == "a+key=x+%2B+y")
        #expect(
            try encode(["k": "aüx😀"], URLEncodedFormEncoder(allowedCharacters: CharacterSet(charactersIn: "kx")))
                == "k=%61%C3%BCx%F0%9F%98%80")
    }

    @Test("the allowed characters can change during concurrent encoding")
    func allowedCharactersChange() async throws {
        let encoder = URLEncodedFormEncoder()
        #expect(try encode(["k": "/"], encoder) == "k=/")
        encoder.allowedCharacters.remove(charactersIn: "/")
        #expect(try encode(["k": "/"], encoder) == "k=%2F")
        let texts = try await withThrowingTaskGroup(of: [String].self) { group in
            group.addTask {
                for round in 0..<200 {
                    if round.isMultiple(of: 2) {
                        encoder.allowedCharacters.insert("/")
                    } else {
                        encoder.allowedCharacters.remove("/")
                    }
                }
                return []
            }
            group.addTask { try (0..<200).map { _ in try encoder.encode(["k": "//"]) } }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        #expect(texts.count == 200 && Set(texts).isSubset(of: ["k=//", "k=%2F%2F"]))
    }

    @Test("long text of multi-scalar emoji is encoded correctly")
    func emoji() throws {
        let text = String(repeating: "👨‍👩‍👧‍👦é", count: 3000)
        #expect(try plain(["e": text]) == "e=\(text)")
    }

    @Test("only objects can be the root")
    func roots() {
        #expect(throws: URLEncodedFormEncoder.Error.self) { try encode([1, 2]) }
        #expect(throws: URLEncodedFormEncoder.Error.self) { try encode("text") }
        #expect(throws: URLEncodedFormEncoder.Error.self) { try encode(Date()) }
        #expect(throws: URLEncodedFormEncoder.Error.self) { try encode(3) }
    }

    @Test("encoding time is linear in the number of keys")
    func manyKeys() throws {
        let value = Dictionary(uniqueKeysWithValues: (0..<20_000).map { ("key\($0)", $0) })
        #expect(try encode(value).count > 200_000)
    }
}
