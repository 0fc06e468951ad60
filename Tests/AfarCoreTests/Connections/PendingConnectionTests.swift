import TestSupport
import Testing

@testable import AfarCore

struct PendingConnectionTests {
    @Test func closuresAreCalledInOrder() {
        let pendingConnection = PendingConnection<Int>()
        let log = Log()
        pendingConnection.whenOpen { _ in
            log.append("first")
            // The second closure has been registered before this one.
            pendingConnection.whenOpen { _ in log.append("third") }
        }
        pendingConnection.whenOpen { _ in log.append("second") }
        #expect(pendingConnection.isAwaited && pendingConnection.connection == nil)
        pendingConnection.open(1)
        pendingConnection.whenOpen { log.append("\($0 ?? 0)") }
        #expect(log.entries == ["first", "second", "third", "1"])
        #expect(!pendingConnection.isAwaited && pendingConnection.connection == 1)
    }

    @Test func waitingClosuresAreCalledWhenTheConnectionIsDropped() {
        let log = Log()
        var pendingConnection: PendingConnection<Int>? = PendingConnection()
        pendingConnection?.whenOpen { log.append($0 == nil ? "dropped" : "open") }
        pendingConnection = nil
        let other = PendingConnection<Int>()
        other.whenOpen { log.append($0 == nil ? "ended" : "open") }
        other.end()
        other.whenOpen { log.append($0 == nil ? "over" : "open") }
        #expect(log.entries == ["dropped", "ended", "over"])
    }
}
