import AfarCore
import Foundation
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite("URLEncoding")
struct URLEncodingTests {
    func query(_ parameters: Parameters?, _ encoding: URLEncoding = .queryString) throws -> String? {
        let request = try URLRequest(url: "https://example.com/", method: .get)
        let url = try encoding.encode(request, with: parameters).url?.absoluteString
        return url.flatMap { $0.split(separator: "?", maxSplits: 1).dropFirst().first.map(String.init) }
    }

    @Test("without parameters, the request is left unchanged")
    func nothing() throws {
        let request = try URLRequest(url: "https://example.com/?", method: .get)
        #expect(try URLEncoding.default.encode(request, with: nil).parts == request.parts)
        #expect(try URLEncoding.default.encode(request, with: [:]).parts == request.parts)
    }

    @Test("keys are sorted at every level")
    func sorts() throws {
        #expect(
            try query(["b": 2, "a": 1, "c": ["z": 1, "y": ["q": 1, "p": 2]] as [String: any Sendable]])
                == "a=1&b=2&c%5By%5D%5Bp%5D=2&c%5By%5D%5Bq%5D=1&c%5Bz%5D=1")
    }

    @Test(
        "each value is escaped exactly once",
        arguments: [
            ("a b", "a%20b"), ("a+b", "a%2Bb"), ("a%20b", "a%2520b"),
            ("&=#[]@!$'()*,;:", "%26%3D%23%5B%5D%40%21%24%27%28%29%2A%2C%3B%3A"),
            ("/?", "/?"), ("-._~", "-._~"), ("", ""), ("\"<>^`{}|\\", "%22%3C%3E%5E%60%7B%7D%7C%5C"),
            ("français", "fran%C3%A7ais"), ("日本語", "%E6%97%A5%E6%9C%AC%E8%AA%9E"), ("😃", "%F0%9F%98%83"),
            ("\r\n\0", "%0D%0A%00"),
        ])
    func escapes(value: String, escaped: String) throws {
        #expect(URLEncoding.default.escape(value) == escaped)
        #expect(try query(["k": value]) == "k=\(escaped)")
    }

    @Test("keys are escaped, too")
    func escapesKeys() throws {
        #expect(try query(["clé ü&": 1]) == "cl%C3%A9%20%C3%BC%26=1")
    }

    @Test("long runs of multi-scalar emoji are encoded correctly")
    func emoji() throws {
        let text = String(repeating: "👨‍👩‍👧‍👦🏳️‍🌈", count: 2000)
        let escaped = try #require(try query(["e": text])?.dropFirst(2))
        #expect(String(escaped).removingPercentEncoding == text)
    }

    @Test("nested arrays and dictionaries")
    func nests() throws {
        let parameters: Parameters = ["a": [1, ["x": [true, "é"] as [any Sendable]]] as [any Sendable]]
        #expect(try query(parameters) == "a%5B%5D=1&a%5B%5D%5Bx%5D%5B%5D=1&a%5B%5D%5Bx%5D%5B%5D=%C3%A9")
    }

    @Test("arrays use the selected encoding")
    func arrays() throws {
        let parameters: Parameters = ["a": ["z", "y"]]
        #expect(try query(parameters, URLEncoding(destination: .queryString, arrayEncoding: .noBrackets)) == "a=z&a=y")
        #expect(try query(parameters, URLEncoding(arrayEncoding: .indexInBrackets)) == "a%5B0%5D=z&a%5B1%5D=y")
        let custom = URLEncoding(arrayEncoding: .custom { key, index in "\(key).\(index + 1)" })
        #expect(try query(parameters, custom) == "a.1=z&a.2=y")
        #expect(try query(["a": [String](), "b": [String: Int]()]) == nil)
    }

    @Test("whole numbers have no fraction, regardless of their type")
    func wholeNumbers() throws {
        let numbers: [(any Sendable, String)] = [
            (1.0, "1"), (-0.0, "-0"), (1.5, "1.5"), (0.1 + 0.2, "0.30000000000000004"), (1e15, "1000000000000000"),
            (1e16, "1e%2B16"), (1e-7, "1e-07"), (Float(2), "2"), (Float(0.1), "0.1"), (CGFloat(3), "3"),
            (Double.infinity, "inf"), (Decimal(4), "4"), (NSNumber(value: 5.0), "5"), (Int.max, "9223372036854775807"),
            ("6.0", "6.0"), (Optional(7.0), "7"), ([8.0], "8"),
        ]
        for (number, text) in numbers {
            #expect(
                URLEncoding(arrayEncoding: .noBrackets).queryComponents(fromKey: "n", value: number).map(\.1) == [text])
        }
        let json = try JSONSerialization.jsonObject(with: Data(#"{"a":1.0,"b":[2.0]}"#.utf8))
        let pairs = URLEncoding.default.queryComponents(fromKey: "j", value: json).map(\.1)
        #expect(pairs == ["1", "2"])
    }

    @Test("booleans are distinguished from numbers, regardless of their type")
    func booleans() throws {
        let json = try JSONSerialization.jsonObject(with: Data(#"{"a":true,"b":1,"c":false,"d":0,"e":1.5}"#.utf8))
        let literal = URLEncoding(boolEncoding: .literal)
        let pairs = literal.queryComponents(fromKey: "j", value: json).map { "\($0.0)=\($0.1)" }
        #expect(pairs == ["j%5Ba%5D=true", "j%5Bb%5D=1", "j%5Bc%5D=false", "j%5Bd%5D=0", "j%5Be%5D=1.5"])
        #expect(literal.queryComponents(fromKey: "n", value: NSNumber(value: true)).first?.1 == "true")
        #expect(literal.queryComponents(fromKey: "n", value: NSNumber(value: Int8(1))).first?.1 == "1")
        #expect(literal.queryComponents(fromKey: "n", value: NSNumber(value: 1)).first?.1 == "1")
        #expect(
            try query(["t": true, "f": false, "i": 1, "o": Optional(true)], literal) == "f=false&i=1&o=true&t=true")
        #expect(try query(["t": true, "f": false]) == "f=0&t=1")
    }

    @Test("numbers keep their digits")
    func numbers() throws {
        #expect(
            try query(["a": UInt64.max, "b": Int64.min, "c": 0.1, "d": Float(2.5), "e": -3])
                == "a=18446744073709551615&b=-9223372036854775808&c=0.1&d=2.5&e=-3")
    }

    @Test("nil and null are omitted, and optionals are unwrapped")
    func optionals() throws {
        let none: String? = nil
        let nested: String?? = .some(.some("x"))
        #expect(try query(["a": none, "b": nested, "c": [1, nil, 2] as [Int?]]) == "b=x&c%5B%5D=1&c%5B%5D=2")
        #expect(URLEncoding.default.queryComponents(fromKey: "n", value: NSNull()).isEmpty)
    }

    @Test(
        "an existing query is left unchanged",
        arguments: [
            ("https://h/?a=%20b&c=%5B", "https://h/?a=%20b&c=%5B&k=v"),
            ("https://h/?a=1+2", "https://h/?a=1+2&k=v"), ("https://h/?", "https://h/?k=v"),
            ("https://h/?a&", "https://h/?a&k=v"), ("https://h", "https://h?k=v"),
            ("https://h/p#f?x", "https://h/p?k=v#f?x"), ("https://h/?a=b#f", "https://h/?a=b&k=v#f"),
            ("https://u:p@h:81/p;x", "https://u:p@h:81/p;x?k=v"),
        ])
    func keepsQuery(url: String, result: String) throws {
        let request = try URLRequest(url: url, method: .get)
        #expect(try URLEncoding.default.encode(request, with: ["k": "v"]).url?.absoluteString == result)
    }

    @Test("a relative URL is resolved")
    func relative() throws {
        let url = try #require(URL(string: "p?a=%20", relativeTo: URL(string: "https://h/d/")))
        let result = try URLEncoding.default.encode(URLRequest(url: url), with: ["k": "v w"]).url
        #expect(result?.absoluteString == "https://h/d/p?a=%20&k=v%20w")
    }

    @Test(
        "the method determines the destination unless it is specified",
        arguments: [
            (URLEncoding.default, HTTPMethod.get, true), (.default, .head, true), (.default, .delete, true),
            (.default, .post, false), (.default, .put, false), (.default, .patch, false), (.default, .query, false),
            (.queryString, .post, true), (.httpBody, .get, false),
        ])
    func destinations(encoding: URLEncoding, method: HTTPMethod, inURL: Bool) throws {
        let request = try encoding.encode(URLRequest(url: "https://h/", method: method), with: ["k": "é"])
        #expect(request.url?.query(percentEncoded: true) == (inURL ? "k=%C3%A9" : nil))
        #expect(request.httpBody == (inURL ? nil : Data("k=%C3%A9".utf8)))
        #expect(request.headers["Content-Type"] == (inURL ? nil : "application/x-www-form-urlencoded; charset=utf-8"))
    }

    @Test("an existing content type is kept")
    func contentType() throws {
        let request = try URLRequest(url: "https://h/", method: .post, headers: ["content-type": "x/y"])
        #expect(try URLEncoding.default.encode(request, with: ["k": 1]).headers["Content-Type"] == "x/y")
    }

    @Test("a missing URL is an error")
    func noURL() throws {
        var request = try URLRequest(url: "https://h/", method: .get)
        request.url = nil
        #expect {
            try URLEncoding.default.encode(request, with: ["k": 1])
        } throws: { error in
            guard case .parameterEncodingFailed(.missingURL) = error as? AFError else { return false }
            return true
        }
    }
}
