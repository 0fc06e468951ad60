import AfarXML
import Foundation
import Testing

/// Dates in the XML Schema format and in other formats.
@Suite struct DateTests {
    private func date(_ text: String, _ decoder: XMLDecoder = XMLDecoder()) throws -> Date {
        try decoded(Date.self, "<x>\(text)</x>", decoder)
    }

    @Test(
        arguments: [
            ("1970-01-01T00:00:00Z", 0), ("2001-01-01T00:00:00", 978_307_200), ("1970-01-02", 86400),
            (" 1970-01-01T01:00:00+01:00\n", 0), ("1969-12-31T19:00:00.000-05:00", 0), ("1970-01-01T00:00:00.5Z", 0.5),
            ("1970-01-01+13:00", -13 * 3600), ("1969-12-31T24:00:00Z", 0), ("2000-02-29T12:00:00Z", 951_825_600),
            ("2024-05-06T07:08:09Z", 1_714_979_289), ("9999-12-31T23:59:59Z", 253_402_300_799),
            ("10000-01-01T00:00:00Z", 253_402_300_800), ("0001-01-01T00:00:00Z", -62_135_596_800),
            ("0000-03-01T00:00:00Z", -62_162_035_200), ("-0001-01-01T00:00:00Z", -62_198_755_200),
        ] as [(String, Double)])
    func datesOfXMLSchema(text: String, seconds: Double) throws {
        #expect(try date(text).timeIntervalSince1970 == seconds)
    }

    @Test(arguments: [
        "", "2024", "2024-13-01", "2024-00-10", "2023-02-29", "1900-02-29", "2024-04-31", "2024-01-01T25:00:00Z",
        "2024-01-01T24:00:01Z", "2024-01-01T00:60:00Z", "2024-01-01T00:00:60Z", "2024-01-01T00:00Z", "24-01-01",
        "2024-01-01T00:00:00.Z", "2024-01-01T00:00:00+15:00", "2024-01-01T00:00:00z", "2024-01-01 00:00:00",
        "2024-01-01T00:00:00ZZ", "99999999999999999999-01-01", "2024-01-01T", "--01-01", "+2024-01-01",
    ])
    func invalidDatesAreErrors(text: String) {
        #expect(throws: DecodingError.self) { try date(text) }
    }

    @Test func theOtherStrategies() throws {
        #expect(try date(" 1.5 ", XMLDecoder(dateDecodingStrategy: .secondsSince1970)).timeIntervalSince1970 == 1.5)
        #expect(try date("1500", XMLDecoder(dateDecodingStrategy: .millisecondsSince1970)).timeIntervalSince1970 == 1.5)
        #expect(
            try date("1.5", XMLDecoder(dateDecodingStrategy: .deferredToDate)).timeIntervalSinceReferenceDate == 1.5)
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(secondsFromGMT: 0)
        formatter.dateFormat = "E, d MMM yyyy HH:mm:ss Z"
        let formatted = XMLDecoder(dateDecodingStrategy: .formatted(formatter))
        #expect(try date("\nThu, 1 Jan 1970 01:00:00 +0100 ", formatted).timeIntervalSince1970 == 0)
        let error = #expect(throws: DecodingError.self) { try date("yesterday", formatted) }
        #expect(error?.context?.debugDescription.contains("E, d MMM yyyy") == true)
        let custom = XMLDecoder(
            dateDecodingStrategy: .custom { Date(timeIntervalSince1970: Double(try String(from: $0).count)) })
        #expect(try date("abc", custom).timeIntervalSince1970 == 3)
    }

    @Test func datesRoundTrip() throws {
        var dates = [0, 0.5, -0.25, 1e9 + 0.123, -1e9 + 0.999_999_9, 253_402_300_799.5, -62_135_596_800, 0.000_001]
            .map { Date(timeIntervalSince1970: $0) }
        dates += (0..<500).map { _ in Date(timeIntervalSince1970: Double.random(in: -1e10...1e10)) }
        for original in dates {
            let text = try encoded(["d": original])
            let read = try decoded([String: Date].self, text)["d"]
            #expect(abs((read ?? .distantPast).timeIntervalSince(original)) < 1e-9 || read == original, "\(text)")
        }
        #expect(try encoded(Date(timeIntervalSince1970: 0.5)) == "<Date>1970-01-01T00:00:00.5Z</Date>")
        #expect(try encoded(Date(timeIntervalSince1970: 1e9 + 0.125)) == "<Date>2001-09-09T01:46:40.125Z</Date>")
    }

    @Test func anUnrepresentableDateIsAnError() {
        for interval in [Double.infinity, .nan, 1e300, -1e300] {
            #expect(throws: EncodingError.self) { try encoded(Date(timeIntervalSince1970: interval)) }
        }
    }
}
