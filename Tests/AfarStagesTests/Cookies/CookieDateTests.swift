import Foundation
import Testing

@testable import AfarStages

/// RFC 6265bis, section 5.1.1.
struct CookieDateTests {
    @Test(arguments: [
        "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
        "6 nOvember 94 8:49:37", "1994 6 NOV 08:49:37", "08:49:37 06 Nov 1994 UTC+5", "06;Nov;1994;08:49:37x7",
        "Nov 6th 1994 08:49:37", "(6) Nov \"1994\" 08:49:37",
    ])
    func spellingsOfOneDate(text: String) {
        #expect(CookieDate.parse(text) == Date(timeIntervalSince1970: 784_111_777))
    }

    @Test(arguments: [
        ("1 Jan 70 00:00:00", 0), ("1 Jan 69 00:00:00", 3_124_224_000), ("1 Jan 00 00:00:00", 946_684_800),
        ("31 Dec 99 23:59:59", 946_684_799), ("29 Feb 2024 00:00:00", 1_709_164_800),
    ])
    func shortYearsAndLeapDays(text: String, seconds: Int) {
        #expect(CookieDate.parse(text) == Date(timeIntervalSince1970: TimeInterval(seconds)))
    }

    @Test(arguments: [
        "", "GMT", "6 Nov 1994", "Nov 1994 08:49:37", "6 1994 08:49:37", "6 Nov 08:49:37", "0 Nov 1994 08:49:37",
        "32 Nov 1994 08:49:37", "31 Nov 1994 08:49:37", "30 Feb 2024 00:00:00", "29 Feb 2023 00:00:00",
        "6 Nov 1600 08:49:37", "6 Nov 1994 24:49:37", "6 Nov 1994 08:60:37", "6 Nov 1994 08:49:60",
        "6 Nov 1994 08:49", "6 Nov 1994 08:49:377", "6 Nov 1994 8x:49:37", "6 Nov 19945 08:49:37",
        "6 No 1994 08:49:37", "６ Nov 1994 08:49:37",
    ])
    func invalidDates(text: String) { #expect(CookieDate.parse(text) == nil) }

    @Test func theFirstOfRepeatedPartsIsUsed() {
        #expect(CookieDate.parse("1 Jan 2000 00:00:00 2 Feb 2001 11:11:11") == Date(timeIntervalSince1970: 946_684_800))
    }
}
