import AfarTransport
import Testing

@Suite struct DecompressionLimitTests {
    private let limit = DecompressionLimit(size: 1_000, ratio: 10)

    @Test(
        arguments: [
            (1_000, 0, false), (1_001, 0, true), (1_001, 100, true), (1_001, 101, false), (10_000, 1_000, false),
            (10_001, 1_000, true), (.max, .max, false), (1_001, -1, true),
        ] as [(Int64, Int64, Bool)])
    func sizeAndRatioMustBothBeExceeded(decoded: Int64, received: Int64, isExceeded: Bool) {
        #expect(limit.isExceeded(by: decoded, from: received) == isExceeded)
    }

    @Test func theDefaultIsOneGibibyteAndAThousandTimes() {
        #expect(DecompressionLimit() == DecompressionLimit(size: 1_073_741_824, ratio: 1_000))
        #expect(ExchangeOptions().decompressionLimit == DecompressionLimit())
    }
}
