import Testing

@testable import AfarHTTP

@Suite struct ConnectionPoolTests {
    private final class Connection: Sendable {}
    private final class Waiter: Sendable {}
    private typealias Pool = ConnectionPool<String, Connection, Waiter>

    private let pool = Pool(limitPerHost: 2, idleLimit: 2)

    private func isUse(_ assignment: Pool.Assignment, of connection: Connection) -> Bool {
        if case .use(let used) = assignment { used === connection } else { false }
    }

    private func isOpen(_ assignment: Pool.Assignment) -> Bool { if case .open = assignment { true } else { false } }

    private func isWait(_ assignment: Pool.Assignment) -> Bool { if case .wait = assignment { true } else { false } }

    /// Opens a connection for a waiter and makes it idle.
    private func addIdle(_ key: String = "a", until deadline: UInt64 = .max) -> Connection {
        let connection = Connection()
        #expect(isOpen(pool.request(Waiter(), key: key)))
        #expect(pool.available(connection, key: key, isFresh: true, idleUntil: deadline) != nil)
        #expect(pool.available(connection, key: key, isFresh: false, idleUntil: deadline) == nil)
        return connection
    }

    @Test func connectionsAreOpenedUpToTheLimit() {
        let waiters = (0..<4).map { _ in Waiter() }
        #expect(waiters.map { isOpen(pool.request($0, key: "a")) } == [true, true, false, false])
        #expect(isOpen(pool.request(Waiter(), key: "b")))
        #expect(pool.lastConnecting(to: "a") === waiters[1])
        #expect(pool.lastConnecting(to: "c") == nil)
        #expect(!pool.openNext("a"))
    }

    @Test func aWaiterTakesTheFirstAvailableConnection() {
        let (first, second) = (Connection(), Connection())
        let waiters = (0..<3).map { _ in Waiter() }
        for waiter in waiters { _ = pool.request(waiter, key: "a") }
        #expect(pool.available(first, key: "a", isFresh: true, idleUntil: .max) === waiters[0])
        // The first connection is idle again before the second one is open.
        #expect(pool.available(first, key: "a", isFresh: false, idleUntil: .max) === waiters[1])
        #expect(pool.available(second, key: "a", isFresh: true, idleUntil: .max) === waiters[2])
    }

    @Test func theMostRecentlyUsedConnectionComesFirst() {
        let connections = (0..<2).map { _ in Connection() }
        for connection in connections {
            _ = pool.request(Waiter(), key: "a")
            _ = pool.available(connection, key: "a", isFresh: true, idleUntil: .max)
        }
        for connection in connections {
            #expect(pool.available(connection, key: "a", isFresh: false, idleUntil: .max) == nil)
        }
        #expect(isUse(pool.request(Waiter(), key: "a"), of: connections[1]))
        #expect(isUse(pool.request(Waiter(), key: "a"), of: connections[0]))
        #expect(isWait(pool.request(Waiter(), key: "a")))
    }

    @Test func aResentRequestGetsANewConnection() {
        let idle = addIdle()
        let (again, other) = (Waiter(), Waiter())
        #expect(isOpen(pool.request(again, key: "a", isFirst: true, needsFresh: true)))
        #expect(isUse(pool.request(Waiter(), key: "a"), of: idle))
        #expect(isWait(pool.request(other, key: "a")))
        #expect(pool.available(idle, key: "a", isFresh: false, idleUntil: .max) === other)
        #expect(pool.available(Connection(), key: "a", isFresh: true, idleUntil: .max) === again)
    }

    @Test func anIdleConnectionIsClosedForANewOne() {
        let connections = (0..<2).map { _ in Connection() }
        for connection in connections {
            _ = pool.request(Waiter(), key: "a")
            _ = pool.available(connection, key: "a", isFresh: true, idleUntil: .max)
        }
        for connection in connections { _ = pool.available(connection, key: "a", isFresh: false, idleUntil: .max) }
        #expect(isWait(pool.request(Waiter(), key: "a", isFirst: true, needsFresh: true)))
        #expect(pool.makeRoom("a") === connections[0])
        #expect(pool.openNext("a"))
        #expect(pool.makeRoom("a") == nil)
    }

    @Test func aFailureEndsTheFirstWaiter() {
        let waiters = (0..<3).map { _ in Waiter() }
        for waiter in waiters { _ = pool.request(waiter, key: "a") }
        #expect(pool.openingFailed("a") === waiters[0])
        #expect(pool.openNext("a"))
        #expect(pool.openingFailed("a") === waiters[1])
        #expect(pool.openingFailed("a") === waiters[2])
        #expect(pool.openingFailed("b") == nil)
    }

    @Test func aWithdrawnWaiterLeavesASurplusConnection() {
        let waiters = (0..<3).map { _ in Waiter() }
        for waiter in waiters { _ = pool.request(waiter, key: "a") }
        #expect(!pool.withdraw(waiters[0], key: "a"))
        #expect(!pool.withdraw(waiters[0], key: "a"))
        #expect(pool.withdraw(waiters[2], key: "a"))
        pool.openingWasCancelled("a")
        #expect(!pool.openNext("a"))
        #expect(pool.available(Connection(), key: "a", isFresh: true, idleUntil: .max) === waiters[1])
    }

    @Test func waitersAreListedInOrder() {
        let waiters = (0..<3).map { _ in Waiter() }
        for waiter in waiters { _ = pool.request(waiter, key: "a", isShared: true) }
        _ = pool.takeWaiter("a")
        #expect(pool.waiters("a").map { ObjectIdentifier($0) } == waiters.dropFirst().map { ObjectIdentifier($0) })
        #expect(pool.waiters("b").isEmpty)
    }

    @Test func aClosedConnectionFreesASlot() {
        for _ in 0..<2 {
            _ = pool.request(Waiter(), key: "a")
            _ = pool.available(Connection(), key: "a", isFresh: true, idleUntil: .max)
        }
        #expect(isWait(pool.request(Waiter(), key: "a")))
        #expect(!pool.openNext("a"))
        pool.closed("a")
        #expect(pool.openNext("a"))
    }

    @Test func idleConnectionsAreLimitedInNumberAndTime() {
        let connections = ["a", "b", "c"].enumerated().map { addIdle($1, until: UInt64(10 - $0)) }
        #expect(pool.takeSurplus() === connections[0])
        #expect(pool.takeSurplus() == nil)
        #expect(pool.nextDeadline == 8)
        #expect(pool.takeExpired(at: 7).isEmpty)
        #expect(pool.takeExpired(at: 8).map { ObjectIdentifier($0) } == [ObjectIdentifier(connections[2])])
        #expect(pool.nextDeadline == 9)
        #expect(pool.takeOldest() === connections[1])
        #expect(pool.takeOldest() == nil)
        #expect(pool.counts.isEmpty)
    }

    @Test func theServerClosesAnIdleConnection() {
        let connection = addIdle()
        pool.idleConnectionClosed(connection, key: "a")
        pool.idleConnectionClosed(connection, key: "a")
        #expect(pool.takeAllIdle().isEmpty)
        #expect(isOpen(pool.request(Waiter(), key: "a")))
    }

    @Test func countsAreByHost() {
        _ = addIdle()
        _ = pool.request(Waiter(), key: "b")
        _ = pool.request(Waiter(), key: "b")
        _ = pool.request(Waiter(), key: "b")
        let counts = pool.counts.sorted { $0.key < $1.key }
        #expect(counts.map(\.key) == ["a", "b"])
        #expect(counts.map(\.idle) == [1, 0])
        #expect(counts.map(\.inUse) == [0, 2])
        #expect(counts.map(\.waiting) == [0, 1])
    }

    @Test func connectionsThatTheServerEndsExpireInSpiteOfTheMinimum() {
        let pool = Pool(limitPerHost: 4, idleLimit: 10, minimumPerHost: 2)
        let connections = (1...4).map { _ in Connection() }
        for _ in connections { _ = pool.request(Waiter(), key: "a") }
        for connection in connections { _ = pool.available(connection, key: "a", isFresh: true, idleUntil: 5) }
        for (deadline, connection) in zip(1..., connections) {
            _ = pool.available(
                connection, key: "a", isFresh: false, idleUntil: UInt64(deadline), isEndedByServer: deadline > 2)
        }
        #expect(pool.takeExpired(at: 2).isEmpty)
        #expect(pool.nextDeadline == 3)
        #expect(pool.takeExpired(at: 3).elementsEqual(connections[2..<3], by: ===))
        #expect(pool.takeExpired(at: 9).elementsEqual(connections[3...], by: ===))
        #expect(pool.nextDeadline == .max && pool.takeAllIdle().count == 2)
    }

    @Test func theMostRecentlyUsedConnectionsUpToTheMinimumDoNotExpire() {
        let pool = Pool(limitPerHost: 4, idleLimit: 10, minimumPerHost: 2)
        let waiters = (0..<4).map { _ in Waiter() }
        let connections = (1...4).map { _ in Connection() }
        for waiter in waiters { _ = pool.request(waiter, key: "a") }
        for connection in connections { _ = pool.available(connection, key: "a", isFresh: true, idleUntil: 5) }
        #expect(pool.hasConnections(4, to: "a") && pool.hasConnections(9, to: "a"))
        for (deadline, connection) in zip(1..., connections) {
            _ = pool.available(connection, key: "a", isFresh: false, idleUntil: UInt64(deadline))
        }
        #expect(pool.takeExpired(at: 1).elementsEqual(connections[..<1], by: ===))
        #expect(pool.nextDeadline == 2)
        #expect(pool.takeExpired(at: 9).elementsEqual(connections[1..<2], by: ===))
        #expect(pool.nextDeadline == .max)
        #expect(pool.takeExpired(at: 100).isEmpty)
        #expect(pool.takeAllIdle().count == 2)
        #expect(!pool.hasConnections(1, to: "a") && pool.hasConnections(0, to: "a"))
    }
}
