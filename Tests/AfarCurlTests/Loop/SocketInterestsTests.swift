import Testing

@testable import AfarCurl

struct SocketInterestsTests {
    private func changes(_ interests: inout SocketInterests) -> [SocketInterests.Change] {
        var changes: [SocketInterests.Change] = []
        interests.drain { changes.append($0) }
        return changes
    }

    @Test func changesAreReturnedOnce() {
        var interests = SocketInterests()
        interests.setInterest(1, of: 7)
        #expect(changes(&interests) == [.add(7, 1)])
        #expect(changes(&interests).isEmpty)
        interests.setInterest(5, of: 7)
        #expect(changes(&interests) == [.modify(7, 5)])
    }

    @Test func anUnwantedEventEndsWatching() {
        var interests = SocketInterests()
        interests.setInterest(1, of: 7)
        _ = changes(&interests)
        #expect(interests.removeUnwanted(7) == nil)
        interests.setInterest(0, of: 7)
        #expect(changes(&interests).isEmpty)
        #expect(interests.removeUnwanted(7) == .remove(7))
        #expect(interests.removeUnwanted(7) == nil)
        interests.setInterest(1, of: 7)
        #expect(changes(&interests) == [.add(7, 1)])
    }

    @Test func onlyTheLastChangeIsApplied() {
        var interests = SocketInterests()
        interests.setInterest(1, of: 7)
        interests.setInterest(0, of: 7)
        interests.setInterest(4, of: 7)
        #expect(changes(&interests) == [.add(7, 4)])
    }

    @Test func changesWithoutANetEffectAreOmitted() {
        var interests = SocketInterests()
        interests.setInterest(1, of: 7)
        _ = changes(&interests)
        interests.setInterest(0, of: 7)
        interests.setInterest(1, of: 7)
        #expect(changes(&interests).isEmpty)
        interests.setInterest(0, of: 9)
        #expect(changes(&interests).isEmpty)
    }

    @Test func aReusedDescriptorIsAnotherSocket() {
        var interests = SocketInterests()
        interests.setInterest(1, of: 7)
        _ = changes(&interests)
        interests.setInterest(0, of: 7)
        interests.reset(7)
        interests.setInterest(1, of: 7)
        #expect(changes(&interests) == [.add(7, 1)])
    }

    @Test func aClosedSocketIsNotRemoved() {
        var interests = SocketInterests()
        interests.setInterest(1, of: 7)
        _ = changes(&interests)
        interests.setInterest(0, of: 7)
        interests.reset(7)
        #expect(changes(&interests).isEmpty)
        #expect(!interests.isWanted(7))
    }

    @Test func unwatchedSocketsHaveNoEvents() {
        var interests = SocketInterests()
        #expect(!interests.isRegistered(7))
        interests.setInterest(1, of: 7)
        #expect(interests.isWanted(7))
        #expect(!interests.isRegistered(7))
        _ = changes(&interests)
        #expect(interests.isRegistered(7))
        interests.reset(7)
        interests.setInterest(4, of: 7)
        #expect(!interests.isRegistered(7))
    }

    @Test func invalidDescriptorsAreIgnored() {
        var interests = SocketInterests()
        interests.setInterest(1, of: -1)
        interests.reset(-1)
        interests.reset(1_000)
        #expect(!interests.isRegistered(-1))
        #expect(!interests.isWanted(-1))
        #expect(changes(&interests).isEmpty)
    }

    @Test func socketsAreReturnedInTheOrderOfTheirChanges() {
        var interests = SocketInterests()
        for socket: Int32 in [9, 3, 5] { interests.setInterest(1, of: socket) }
        #expect(changes(&interests) == [.add(9, 1), .add(3, 1), .add(5, 1)])
    }
}
