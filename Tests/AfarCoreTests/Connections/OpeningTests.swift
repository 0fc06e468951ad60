import AfarTesting
import Testing

@testable import AfarCore

struct OpeningTests {
    @Test func whoAskedFirstIsCalledFirst() {
        let opening = Opening<Int>()
        let log = Log()
        opening.whenOpen { _ in
            log.append("first")
            // The second has asked before.
            opening.whenOpen { _ in log.append("third") }
        }
        opening.whenOpen { _ in log.append("second") }
        #expect(opening.isAwaited && opening.connection == nil)
        opening.open(1)
        opening.whenOpen { log.append("\($0 ?? 0)") }
        #expect(log.entries == ["first", "second", "third", "1"])
        #expect(!opening.isAwaited && opening.connection == 1)
    }

    @Test func whoWaitsIsCalledWhenNothingComes() {
        let log = Log()
        var opening: Opening<Int>? = Opening()
        opening?.whenOpen { log.append($0 == nil ? "dropped" : "open") }
        opening = nil
        let other = Opening<Int>()
        other.whenOpen { log.append($0 == nil ? "ended" : "open") }
        other.end()
        other.whenOpen { log.append($0 == nil ? "over" : "open") }
        #expect(log.entries == ["dropped", "ended", "over"])
    }
}
