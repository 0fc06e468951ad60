import Testing

@testable import AfarTransport

@Suite struct HTTPDateTests {
    @Test(arguments: [
        ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777), ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
        ("Tue, 14 Nov 2023 22:13:20 GMT", 1_700_000_000), ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
        ("Sun Nov  6 08:49:37 1994", 784_111_777), ("Tuesday, 14-Nov-23 22:13:20 GMT", 1_700_000_000),
    ])
    func datesAreRead(text: String, seconds: Int) {
        #expect(HTTPDate.parse(text) == seconds)
    }

    @Test(arguments: [
        "", "now", "Sunday, 06-Nov-1994-94 08:49:37 GMT", "Sun Nov  x 08:49:37 1994", "Sun, 06 Nov 1994 08:49:37 CET",
        "Sun, 6 Nov 1994 08:49:37 GMT", "Sun, 06 Foo 1994 08:49:37 GMT", "Sun, 06 Nov 1994 24:49:37 GMT",
        "Sun, 99 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 GMT ",
    ])
    func anythingElseIsNone(text: String) {
        #expect(HTTPDate.parse(text) == nil)
    }
}
