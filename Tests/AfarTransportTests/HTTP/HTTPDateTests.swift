import Testing

@testable import AfarTransport

@Suite struct HTTPDateTests {
    @Test(arguments: [
        ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777), ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
        ("Tue, 14 Nov 2023 22:13:20 GMT", 1_700_000_000), ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
        ("Sun Nov  6 08:49:37 1994", 784_111_777), ("Tuesday, 14-Nov-23 22:13:20 GMT", 1_700_000_000),
        ("Tue Nov 14 22:13:20 2023", 1_700_000_000), ("SUN, 06 NOV 1994 08:49:37 gmt", 784_111_777),
        ("sunday, 06-nov-94 08:49:37 Gmt", 784_111_777), ("Mon, 06 Nov 1994 08:49:37 GMT", 784_111_777),
    ])
    func datesAreRead(text: String, seconds: Int) {
        #expect(HTTPDate.parse(text) == seconds)
    }

    @Test(arguments: [
        "", "now", "Sunday, 06-Nov-1994-94 08:49:37 GMT", "Sun Nov  x 08:49:37 1994", "Sun, 06 Nov 1994 08:49:37 CET",
        "Sun, 6 Nov 1994 08:49:37 GMT", "Sun, 06 Foo 1994 08:49:37 GMT", "Sun, 06 Nov 1994 24:49:37 GMT",
        "Sun, 99 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 GMT ", " Sun, 06 Nov 1994 08:49:37 GMT",
        "Thu, 18 Aug 50 02:01:18 GMT", "Thu, 18 Aug  2050 02:01:18 GMT", "Thu,  18 Aug 2050 02:01:18 GMT",
        "Thu, 18-Aug-2050 02:01:18 GMT", "Thursday, 18-Aug-2050 02:01:18 GMT", "Thu, 18-Aug-50 02:01:18 GMT",
        "Thu 18 Aug 2050 02:01:18 GMT", "Thu, 18 Aug 2050 02.01.18 GMT", "Thu, 18 Aug 2050 2:01:18 GMT",
        "Thu, 18 Aug 2050 02:01:18 UTC", "Thu, 18 Aug 2050 02:01:18", "Thu, 18 Aug 2050 02:01:18: GMT",
        "Foo, 18 Aug 2050 02:01:18 GMT", "Thu Aug 6 02:01:18 2050", "Thu Aug  18 02:01:18 2050",
        "Thu Aug 18 02:01:18 50", "Thu Aug 18 02:01:18 2050 GMT", "Thu, 18 Aug 2050\u{A0}02:01:18 GMT",
    ])
    func invalidDatesAreRejected(text: String) {
        #expect(HTTPDate.parse(text) == nil)
    }
}
