import AfarTransport
import Testing

@Suite struct DurationTimeoutTests {
    @Test(arguments: [(1.5, 1.5), (0, 0), (-1, 0), (-Double.infinity, 0), (1e300, 1e9), (.infinity, 1e9), (.nan, 1e9)])
    func timeoutsAreClampedToTheClocksRange(seconds: Double, expected: Double) {
        #expect(Duration(timeout: seconds) == .seconds(expected))
    }
}
