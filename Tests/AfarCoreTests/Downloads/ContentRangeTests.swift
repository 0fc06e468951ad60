import Testing

@testable import AfarCore

@Suite struct ContentRangeTests {
    @Test(
        arguments: [
            ("bytes 0-0/1", 0...0, 1), ("bytes 42-1233/1234", 42...1233, 1234), ("BYTES 5-9/10", 5...9, 10),
            ("bytes 0-9223372036854775806/9223372036854775807", 0 ... .max - 1, .max),
        ] as [(String, ClosedRange<Int64>, Int64)])
    func partsAreRead(value: String, bytes: ClosedRange<Int64>, length: Int64) {
        #expect(ContentRange(value)?.bytes == bytes)
        #expect(ContentRange(value)?.totalLength == length)
    }

    @Test func rangeOrLengthCanBeUnknown() {
        #expect(ContentRange("bytes */1234") == ContentRange("bytes */01234"))
        #expect(ContentRange("bytes */1234")?.totalLength == 1234)
        #expect(ContentRange("bytes */1234")?.bytes == nil)
        #expect(ContentRange("bytes 5-9/*")?.bytes == 5...9)
        #expect(ContentRange("bytes 5-9/*")?.totalLength == nil)
    }

    @Test(arguments: [
        "", "bytes", "bytes ", "bytes 5-9", "bytes 9-5/10", "bytes 5-10/10", "bytes +5-9/10", "bytes 5-9/-10",
        "bytes 5-9/10 ", " bytes 5-9/10", "bytes  5-9/10", "items 5-9/10", "bytes 5-/10", "bytes -9/10", "bytes=5-9/10",
        "bytes 0-9223372036854775808/9223372036854775809", "bytes 5-9/10, bytes 20-29/30", "bytes 5-9-12/20",
        "bytes 5-9/10/20", "bytes 5-9/", "bytes ٥-٩/10",
    ])
    func invalidRangesAreRejected(value: String) {
        #expect(ContentRange(value) == nil)
    }
}
