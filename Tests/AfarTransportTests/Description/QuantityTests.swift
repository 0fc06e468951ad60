import Testing

@testable import AfarTransport

struct QuantityTests {
    @Test func bytesHaveUnitsOfThousands() {
        #expect(Quantity.bytes(0) == "0 bytes")
        #expect(Quantity.bytes(1) == "1 byte")
        #expect(Quantity.bytes(999) == "999 bytes")
        #expect(Quantity.bytes(1000) == "1.0 kB")
        #expect(Quantity.bytes(300_000) == "300 kB")
        #expect(Quantity.bytes(999_499) == "999 kB")
        #expect(Quantity.bytes(999_999) == "1.0 MB")
        #expect(Quantity.bytes(1_500_000) == "1.5 MB")
        #expect(Quantity.bytes(.max) == "9.2 EB")
    }

    @Test func ratesRequireADuration() {
        #expect(Quantity.rate(3_000_000, in: 2) == "1.5 MB/s")
        #expect(Quantity.rate(1, in: 0) == nil)
        #expect(Quantity.rate(.max, in: 1e-19) == nil)
    }

    @Test func millisecondsHaveOneDecimal() {
        #expect(Quantity.milliseconds(0.01234) == "12.3 ms")
        #expect(Quantity.milliseconds(61) == "61000.0 ms")
    }
}
