import AfarCore
import AfarSerializers
import Foundation
import Testing

/// JSON from real servers: other encodings, syntax errors and deep nesting.
@Suite struct JSONTextTests {
    private struct Named: Codable, Equatable {
        let name: String
    }

    /// Nested arrays.
    private struct Nest: Decodable {
        init(from decoder: any Decoder) throws {
            var container = try decoder.unkeyedContainer()
            while !container.isAtEnd { _ = try container.decode(Nest.self) }
        }
    }

    private func input(_ data: Data) -> SerializationInput {
        SerializationInput(request: nil, head: ResponseHead(status: 200, url: "http://h/"), data: data, error: nil)
    }

    private static let encodings: [(String.Encoding, [UInt8])] = [
        (.utf8, [0xEF, 0xBB, 0xBF]), (.utf16LittleEndian, [0xFF, 0xFE]), (.utf16BigEndian, [0xFE, 0xFF]),
        (.utf32LittleEndian, [0xFF, 0xFE, 0x00, 0x00]), (.utf32BigEndian, [0x00, 0x00, 0xFE, 0xFF]),
    ]

    @Test(arguments: encodings) func everyUnicodeEncodingIsRead(encoding: String.Encoding, mark: [UInt8]) throws {
        let text = try #require(#"{"name":"Zoë 🍋"}"#.data(using: encoding))
        for bytes in [text, Data(mark) + text] {
            #expect(try DecodableResponseSerializer<Named>().serialize(input(bytes)) == Named(name: "Zoë 🍋"))
            #expect(try DecodableStreamSerializer<Named>().serialize(bytes) == Named(name: "Zoë 🍋"))
            #expect(try JSONResponseSerializer().serialize(input(bytes)) as? [String: String] == ["name": "Zoë 🍋"])
        }
        let fragment = try #require("7".data(using: encoding))
        #expect(try JSONResponseSerializer().serialize(input(Data(mark) + fragment)) as? Int == 7)
        #expect(try DecodableResponseSerializer<Int>().serialize(input(fragment)) == 7)
    }

    @Test func malformedUTF16IsATypedError() throws {
        let bytes = Data([0x5B, 0x00, 0x22, 0x00, 0x00, 0xD8, 0x22, 0x00, 0x5D, 0x00])
        let error = #expect(throws: AFError.self) { try JSONResponseSerializer().serialize(input(bytes)) }
        #expect(
            (error?.underlyingError as? TextDecodingError)?.reason
                == .malformedBytes(encoding: .utf16LittleEndian, offset: 4))
    }

    // MARK: Syntax errors

    @Test(arguments: [
        ("{\n  \"é\": x}", 2, 8, 10), ("[1, 2", 1, 6, 5), ("[1 2]", 1, 4, 3), ("{\"a\" 1}", 1, 6, 5),
        ("{a: 1}", 1, 2, 1),
        ("[1,,2]", 1, 4, 3), ("{\"a\":1,,}", 1, 8, 7), ("\"a\tb\"", 1, 3, 2), ("\"\\x\"", 1, 2, 1), ("[01]", 1, 2, 1),
        ("[1.]", 1, 2, 1), ("[-]", 1, 2, 1), ("[1e+]", 1, 2, 1), ("tru", 1, 1, 0), ("1 2", 1, 3, 2), ("[\"a", 1, 2, 1),
        ("[\r\n\n}", 3, 1, 4), ("\"\\u12G4\"", 1, 2, 1), ("", 1, 1, 0), (" ", 1, 2, 1), ("]", 1, 1, 0),
        ("[\"\\", 1, 3, 2),
    ])
    func theErrorHasALocation(text: String, line: Int, column: Int, offset: Int) throws {
        // An empty body would cause a different error.
        let bytes = Data((text.isEmpty ? "\u{FEFF}" : text).utf8)
        let error = #expect(throws: AFError.self) { try JSONResponseSerializer().serialize(input(bytes)) }
        let fault = try #require(error?.underlyingError as? InvalidJSON)
        #expect((fault.line, fault.column, fault.byteOffset) == (line, column, offset), "\(fault.problem)")
        #expect(error?.localizedDescription.contains("line \(line), column \(column)") == true)
        // If the text begins with a string, decoding an array fails before the syntax error.
        guard !text.hasPrefix("\"") else { return }
        let other = #expect(throws: AFError.self) { try DecodableResponseSerializer<[Int]>().serialize(input(bytes)) }
        guard case .dataCorrupted(let context) = other?.underlyingError as? DecodingError else {
            Issue.record("unexpected error: \(String(describing: other))")
            return
        }
        #expect(context.underlyingError as? InvalidJSON == fault)
        #expect(other?.localizedDescription.contains("line \(line), column \(column)") == true)
    }

    /// Code that checks for the error code of `JSONSerialization` continues to work.
    @Test(arguments: ["{", "[1,]", "[01]"])
    func theErrorBridgesToFoundationsNSError(text: String) throws {
        let error = #expect(throws: AFError.self) { try JSONResponseSerializer().serialize(input(Data(text.utf8))) }
        let cause = try #require(error?.underlyingError)
        let bridged = cause as NSError
        #expect(bridged.domain == NSCocoaErrorDomain)
        #expect(bridged.code == 3840)
        #expect(bridged.localizedDescription == cause.localizedDescription)
        #expect(cause.localizedDescription.contains("line 1, column"))
        #expect((bridged.userInfo["NSJSONSerializationErrorIndex"] as? Int) == (cause as? InvalidJSON)?.byteOffset)
    }

    @Test(arguments: [
        ("[1,]", 3), ("{\"a\":1,}", 7), ("[1, \r\n\t]", 7), ("[[1,],2]", 4), ("{\"a\":{\"b\":[],}}", 13),
        ("[\"a,]\",\"\\\",]\",]", 14), ("[\"\\\\\",]", 6), ("[{},]", 4), ("[[],]", 4), ("[null ,]", 7),
        ("[\"é\",]", 6),
    ])
    func aCommaAfterTheLastValueIsRejected(text: String, offset: Int) throws {
        let bytes = Data(text.utf8)
        for bytes in [bytes, Data(" \(text)\n".utf8).dropFirst(), try #require(text.data(using: .utf16))] {
            let error = #expect(throws: AFError.self) { try JSONResponseSerializer().serialize(input(bytes)) }
            #expect((error?.underlyingError as? InvalidJSON)?.byteOffset == offset)
        }
    }

    @Test(arguments: [
        "[\",]\"]", "{\",}\":\", ]\"}", "[\"\\\",]\"]", "[\"\\\\\", \",}\"]", "[1 , [ ] , { } ]", "\",]\"", "[\",\"]",
        "{\"a\":\",\"}",
    ])
    func commasInStringsAreNotTrailingCommas(text: String) throws {
        let value = try JSONResponseSerializer().serialize(input(Data(text.utf8)))
        let expected = try JSONSerialization.jsonObject(with: Data(text.utf8), options: .fragmentsAllowed)
        #expect("\(value)" == "\(expected)")
    }

    @Test func malformedUTF8IsReported() {
        let error = #expect(throws: AFError.self) {
            try JSONResponseSerializer().serialize(input(Data("[1,\n\"a".utf8) + [0xFF] + Data("\"]".utf8)))
        }
        #expect((error?.underlyingError as? InvalidJSON)?.line == 2)
    }

    @Test(arguments: [
        "[]", "{}", "[[],{}]", "{\"a\":{\"b\":[1,-0.5e+10,true,false,null,\"\\u00e9\\n\"]}}", " 0 ", "\"\"",
    ])
    func wellFormedJSONHasNoSyntaxError(text: String) throws {
        // Decoding fails because of the type, with the decoder's own error.
        let error = #expect(throws: AFError.self) {
            try DecodableResponseSerializer<Named>().serialize(input(Data(text.utf8)))
        }
        #expect((error?.underlyingError as? DecodingError) != nil)
        if case .dataCorrupted = error?.underlyingError as? DecodingError { Issue.record("\(text) is not corrupt") }
    }

    @Test(arguments: ["[", "{\"a\":"]) func deepNestingIsATypedError(opening: String) throws {
        // Foundation's decoder crashes if the text ends where the nesting limit is exceeded.
        let text = String(repeating: opening, count: 512) + opening.prefix(1)
        for text in [text, text + " ", String(repeating: opening, count: 100_000)] {
            let bytes = Data(text.utf8)
            let error = #expect(throws: AFError.self) { try JSONResponseSerializer().serialize(input(bytes)) }
            #expect(error?.localizedDescription.contains("512 levels deep") == true)
            let other = #expect(throws: AFError.self) {
                try DecodableResponseSerializer<Nest>().serialize(input(bytes))
            }
            #expect(other?.localizedDescription.contains("512 levels deep") == true)
        }
        let bytes = Data((String(repeating: "[", count: 512) + String(repeating: "]", count: 512)).utf8)
        _ = try JSONResponseSerializer().serialize(input(bytes))
        _ = try DecodableResponseSerializer<Nest>().serialize(input(bytes))
    }

    @Test func inputThatCrashesFoundationIsRejectedOnStreams() throws {
        let text = String(repeating: "[", count: 513)
        #expect(throws: AFError.self) { try ServerSentEvent(data: text).decode(Nest.self) }
        #expect(throws: AFError.self) { try DecodableStreamSerializer<Nest>().serialize(Data(text.utf8)) }
        var lines = JSONLinesParser<Int>()
        let results = lines.parse(Data("\(text)\n7\n".utf8))
        #expect(results.map { $0.value } == [nil, 7])
        var records = JSONTextSequenceParser<Int>()
        #expect(records.parse(Data("\u{1E}\(text)\n\u{1E}7\n".utf8)).map { $0.value } == [nil, 7])
    }

    // MARK: Numbers

    private struct Order: Decodable {
        struct Item: Decodable {
            let id: Int8
            let weight: Float?
            let price: Decimal?
            let date: Date?
            let codes: [UInt8]?
            let counts: [String: Int16]?
        }
        let items: [Item]
    }

    @Test(arguments: [
        (#"{"items":[{"id":1},{"id":300}]}"#, ["items", "1", "id"], "Int8"),
        (#"{"items":[{"id":1.5}]}"#, ["items", "0", "id"], "Int8"),
        (#"{"items":[{"id":-1e99}]}"#, ["items", "0", "id"], "Int8"),
        (#"{"items":[{"id":1,"weight":1e300}]}"#, ["items", "0", "weight"], "Float"),
        (#"{"items":[{"id":1,"price":1e400}]}"#, ["items", "0", "price"], "Decimal"),
        (#"{"items":[{"id":1,"date":1e400}]}"#, ["items", "0", "date"], "Date"),
        (#"{"items":[{"id":1,"codes":[0,255,256]}]}"#, ["items", "0", "codes", "2"], "UInt8"),
        (#"{"items":[{"id":1,"counts":{"a":1,"b":40000}}]}"#, ["items", "0", "counts", "b"], "Int16"),
    ])
    func aNumberThatDoesNotFitIsReportedWithItsPath(text: String, path: [String], type: String) throws {
        let error = #expect(throws: AFError.self) {
            try DecodableResponseSerializer<Order>().serialize(input(Data(text.utf8)))
        }
        guard case .dataCorrupted(let context) = error?.underlyingError as? DecodingError else {
            Issue.record("unexpected error: \(String(describing: error))")
            return
        }
        #expect(context.codingPath.map { $0.intValue.map(String.init) ?? $0.stringValue } == path)
        #expect(context.debugDescription == "The number doesn't fit \(type).")
        #expect(!(error?.localizedDescription.contains("not valid JSON") ?? true))
    }

    @Test func aNumberAtTheTopLevelOrUnderConvertedKeysIsReported() throws {
        func failure<T: Decodable>(_ type: T.Type, _ text: String, _ decoder: JSONDecoder = JSONDecoder()) -> String? {
            let error = #expect(throws: AFError.self) {
                try DecodableResponseSerializer<T>(decoder: decoder).serialize(input(Data(text.utf8)))
            }
            guard case .dataCorrupted(let context) = error?.underlyingError as? DecodingError else { return nil }
            let path = context.codingPath.map { $0.intValue.map(String.init) ?? $0.stringValue }
            return (path + [context.debugDescription]).joined(separator: " ")
        }
        struct Point: Decodable { let xPart: UInt64 }
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        #expect(failure(Int8.self, "300") == "The number doesn't fit Int8.")
        #expect(failure([Int].self, "[1,99999999999999999999]") == "1 The number doesn't fit Int.")
        #expect(failure([Point].self, #"[{"x_part":-1}]"#, decoder) == "0 xPart The number doesn't fit UInt64.")
        #expect(failure([[[Double]]].self, "[[[1],[2,1e999]]]") == "0 1 1 The number doesn't fit Double.")
        let lenient = JSONDecoder()
        lenient.allowsJSON5 = true
        #expect(failure([Int8].self, "[1,/**/300]", lenient) == "1 The number doesn't fit Int8.")
    }

    @Test(arguments: [Int.min, -1, 0, 1, .max]) func aLocationIsWithinTheText(offset: Int) {
        let location = Array("ab".utf8).withUnsafeBytes { JSONLocation(of: offset, in: $0) }
        #expect((0...2).contains(location.byteOffset))
    }

    // MARK: Decoders

    @Test func json5HasSeparateErrors() throws {
        let decoder = JSONDecoder()
        decoder.allowsJSON5 = true
        let serializer = DecodableResponseSerializer<[String: Int]>(decoder: decoder)
        #expect(try serializer.serialize(input(Data("{a: 1, /* x */}".utf8))) == ["a": 1])
        let error = #expect(throws: AFError.self) { try serializer.serialize(input(Data("{a: 1 /* x */ b}".utf8))) }
        guard case .dataCorrupted(let context) = error?.underlyingError as? DecodingError else {
            Issue.record("unexpected error: \(String(describing: error))")
            return
        }
        #expect(!(context.underlyingError is InvalidJSON))
    }

    @Test func anotherDecoderReceivesUnchangedBytes() throws {
        struct Counter: DataDecoder {
            func decode<D: Decodable>(_ type: D.Type, from data: Data) throws -> D {
                try JSONDecoder().decode(type, from: Data("\(data.count)".utf8))
            }
        }
        let serializer = DecodableResponseSerializer<Int>(decoder: Counter())
        #expect(try serializer.serialize(input(Data([0xFF, 0xFE, 0x31, 0x00]))) == 4)
    }
}
