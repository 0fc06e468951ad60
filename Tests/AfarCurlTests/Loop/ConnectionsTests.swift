import Testing

@testable import AfarCurl

struct ConnectionsTests {
    private final class User {}

    private let first = User()
    private let second = User()

    private func id(_ user: User) -> ObjectIdentifier { ObjectIdentifier(user) }

    @Test func usesAreCounted() {
        var connections = Connections()
        connections.open(5, to: "h", by: id(first))
        connections.open(9, to: "i", by: id(second))
        #expect(connections.connected.map(\.isIdle) == [false, false])
        connections.setUse(.idle(since: 7), of: 5)
        #expect(connections.idle.map(\.socket) == [5])
        #expect(connections.idle.map(\.since) == [7])
        connections.setUse(.ended, of: 5)
        #expect((connections.idleCount, connections.endedCount) == (0, 1))
        #expect(connections.connected.map(\.host) == ["i"])
        connections.close(5)
        connections.close(9)
        connections.close(9)
        #expect((connections.idleCount, connections.endedCount) == (0, 0))
        #expect(connections.isEmpty)
    }

    @Test func theLastUserLeavesASharedConnectionIdle() {
        var connections = Connections()
        connections.open(5, to: "h", by: id(first))
        connections.take(5, by: id(first), isShared: true)
        connections.take(5, by: id(second), isShared: true)
        #expect(connections.isShared(5) && connections.sharedInUse == [5])
        #expect(connections.isUsed(5, by: id(first)) && connections.isUsed(5, by: id(second)))
        let (wasUser, isUser) = (
            connections.release(5, by: id(first), at: 1), connections.release(5, by: id(first), at: 2)
        )
        #expect(wasUser && !isUser && !connections.isIdle(5))
        let wasLast = connections.release(5, by: id(second), at: 3)
        #expect(wasLast && connections.isIdle(5))
        #expect(connections.idle.map(\.since) == [3] && connections.sharedInUse.isEmpty)
        connections.take(5, by: id(first), isShared: true)
        #expect(!connections.isIdle(5))
    }

    /// The system reuses a descriptor's number as soon as it is closed.
    @Test func thePreviousUserOfADescriptorIsForgotten() {
        var connections = Connections()
        connections.open(5, to: "h", by: id(first))
        connections.close(5)
        connections.open(5, to: "i", by: id(second))
        #expect(!connections.isUsed(5, by: id(first)))
        #expect(connections.isUsed(5, by: id(second)))
    }

    @Test func unknownSocketsAreIgnored() {
        var connections = Connections()
        for socket: Int32 in [0, 1, 1_000_000] {
            connections.setUse(.ended, of: socket)
            connections.close(socket)
            #expect(!connections.contains(socket))
            #expect(!connections.isUsed(socket, by: id(first)))
        }
        #expect(connections.isEmpty)
        #expect(connections.endedCount == 0)
    }
}
