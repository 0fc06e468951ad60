import AfarXML
import Foundation
import Testing

/// The text formats of single values.
@Suite struct ScalarTests {
    private func value<Value: Decodable>(_ text: String, _ decoder: XMLDecoder = XMLDecoder()) throws -> Value {
        try decoded(Value.self, "<x>\(text)</x>", decoder)
    }

    @Test func booleans() throws {
        for (text, expected) in [("true", true), ("1", true), ("false", false), (" 0\n", false)] {
            #expect(try value(text) == expected)
        }
        for text in ["yes", "TRUE", "", "2", "10", "truefalse"] {
            #expect(throws: DecodingError.self) { try value(text) as Bool }
        }
    }

    @Test func integersAreLimitedToTheirRange() throws {
        #expect(try value("-128") as Int8 == -128)
        #expect(try value("+127") as Int8 == 127)
        #expect(try value("00000000000000000000000000255") as UInt8 == 255)
        #expect(try value("-0") as UInt == 0)
        #expect(try value("-9223372036854775808") as Int == .min)
        #expect(try value("9223372036854775807") as Int64 == .max)
        #expect(try value("18446744073709551615") as UInt64 == .max)
        #expect(try value("-170141183460469231731687303715884105728") as Int128 == .min)
        #expect(try value("340282366920938463463374607431768211455") as UInt128 == .max)
        #expect(throws: DecodingError.self) { try value("128") as Int8 }
        #expect(throws: DecodingError.self) { try value("-1") as UInt }
        #expect(throws: DecodingError.self) { try value("9223372036854775808") as Int }
        #expect(throws: DecodingError.self) { try value("-9223372036854775809") as Int }
        #expect(throws: DecodingError.self) { try value("340282366920938463463374607431768211456") as UInt128 }
        for text in ["", "-", "+", "1.0", "1e3", "0x10", "1 2", "--1", "१", "1,000"] {
            #expect(throws: DecodingError.self, "\(text)") { try value(text) as Int }
        }
    }

    @Test func aRangeIsNamedInTheError() {
        let error = #expect(throws: DecodingError.self) { try value("300") as UInt8 }
        #expect(
            error?.context?.debugDescription
                == #"Expected an integer from 0 to 255, found "300" at /x, line 1."#)
    }

    @Test(arguments: [
        "0", "-0", "1", "-1.5", "+2.25", ".5", "5.", "1e3", "1E-3", "123456789012345678", "0.1", "1234.5678",
        "3.141592653589793", "2.2250738585072014e-308", "1.7976931348623157e308", "4.9e-324", "9007199254740993",
        "123456789012345678901234567890", "0.000000000000000000000000001", "1e22", "1e23", "00012.500",
        "179769313486231580793728971405303415079934132710037826936173778980444968292764750946649017977587207096330286416692887910946555547851940402630657488671505820681908902000708383676273854845817711531764475730270069855571366959622842914819860834936475292719074168444365510704342711559699508093042880",
    ])
    func numbersAreParsedAsExactlyAsBySwift(text: String) throws {
        #expect((try value(text) as Double).bitPattern == Double(text)?.bitPattern)
        #expect((try value(text) as Float).bitPattern == Float(text)?.bitPattern)
    }

    @Test func randomNumbersAreReadExactly() throws {
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<2000 {
            let number = Double(bitPattern: generator.next())
            guard number.isFinite else { continue }
            #expect(try value("\(number)") as Double == number)
            let short = Double(Int.random(in: -1_000_000...1_000_000)) / 1000
            #expect(try value("\(short)") as Double == short)
        }
    }

    @Test func specialAndInvalidNumbers() throws {
        #expect(try value("INF") as Double == .infinity)
        #expect(try value("+INF") as Double == .infinity)
        #expect(try value(" -INF ") as Float == -.infinity)
        #expect((try value("NaN") as Double).isNaN)
        for text in ["", "inf", "nan", "infinity", "0x1p3", "1e", "e1", ".", "-", "1.2.3", "1f", "NAN", "1e1e1", "1_0"]
        {
            #expect(throws: DecodingError.self, "\(text)") { try value(text) as Double }
            #expect(throws: DecodingError.self, "\(text)") { try value(text) as Float }
        }
    }

    @Test func decimals() throws {
        #expect(try value("0.1") as Decimal == Decimal(string: "0.1"))
        #expect(
            try value(" -12345678901234567890.123456789 ") as Decimal
                == Decimal(string: "-12345678901234567890.123456789"))
        for text in ["", "1,5", "abc", "1 2", "12abc", "INF", "1e9999999999"] {
            #expect(throws: DecodingError.self, "\(text)") { try value(text) as Decimal }
        }
    }

    @Test func uuidsAndURLs() throws {
        let id = UUID()
        #expect(try value("\n\(id.uuidString.lowercased()) ") as UUID == id)
        #expect(throws: DecodingError.self) { try value("no") as UUID }
        #expect(try value(" https://example.org/?a=1&amp;b=2 ") as URL == URL(string: "https://example.org/?a=1&b=2"))
        #expect(throws: DecodingError.self) { try value("") as URL }
    }

    @Test func bytesInBase64OrHexadecimal() throws {
        #expect(try value(" aGVs\n  bG8= ") as Data == Data("hello".utf8))
        #expect(try value("") as Data == Data())
        #expect(throws: DecodingError.self) { try value("aGVsbG8") as Data }
        #expect(throws: DecodingError.self) { try value("a*Vs") as Data }
        let hexadecimal = XMLDecoder(dataDecodingStrategy: .hexadecimal)
        #expect(try value(" 00fFA9 ", hexadecimal) as Data == Data([0, 255, 169]))
        #expect(throws: DecodingError.self) { try value("0", hexadecimal) as Data }
        #expect(throws: DecodingError.self) { try value("0g", hexadecimal) as Data }
        let custom = XMLDecoder(dataDecodingStrategy: .custom { Data(try String(from: $0).utf8) })
        #expect(try value("a", custom) as Data == Data("a".utf8))
        let deferred = XMLDecoder(dataDecodingStrategy: .deferredToData)
        #expect(try value("<b>1</b><b>2</b>", deferred) as Data == Data([1, 2]))
    }

    @Test func elementsAreNotANumber() {
        let error = #expect(throws: DecodingError.self) { try value("1<b>2</b>") as Int }
        #expect(error?.context?.debugDescription.contains("found elements") == true)
    }
}
