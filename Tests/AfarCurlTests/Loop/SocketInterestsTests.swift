import Testing

@testable import AfarCurl

struct SocketInterestsTests {
    private func changes(_ interests: inout SocketInterests) -> [SocketInterests.Change] {
        var changes: [SocketInterests.Change] = []
        interests.drain { changes.append($0) }
        return changes
    }

    @Test func changesAreHandedOutOnce() {
        var interests = SocketInterests()
        interests.want(1, of: 7)
        #expect(changes(&interests) == [.add(7, 1)])
        #expect(changes(&interests).isEmpty)
        interests.want(5, of: 7)
        #expect(changes(&interests) == [.modify(7, 5)])
    }

    @Test func watchingEndsWithTheFirstEventThatNobodyWants() {
        var interests = SocketInterests()
        interests.want(1, of: 7)
        _ = changes(&interests)
        #expect(interests.dismiss(7) == nil)
        interests.want(0, of: 7)
        #expect(changes(&interests).isEmpty)
        #expect(interests.dismiss(7) == .remove(7))
        #expect(interests.dismiss(7) == nil)
        interests.want(1, of: 7)
        #expect(changes(&interests) == [.add(7, 1)])
    }

    @Test func theLastOfSeveralChangesCounts() {
        var interests = SocketInterests()
        interests.want(1, of: 7)
        interests.want(0, of: 7)
        interests.want(4, of: 7)
        #expect(changes(&interests) == [.add(7, 4)])
    }

    @Test func whatComesOutTheSameCostsNothing() {
        var interests = SocketInterests()
        interests.want(1, of: 7)
        _ = changes(&interests)
        interests.want(0, of: 7)
        interests.want(1, of: 7)
        #expect(changes(&interests).isEmpty)
        interests.want(0, of: 9)
        #expect(changes(&interests).isEmpty)
    }

    @Test func aNumberThatComesBackIsAnotherSocket() {
        var interests = SocketInterests()
        interests.want(1, of: 7)
        _ = changes(&interests)
        interests.want(0, of: 7)
        interests.forget(7)
        interests.want(1, of: 7)
        #expect(changes(&interests) == [.add(7, 1)])
    }

    @Test func aClosedSocketIsNotTakenOut() {
        var interests = SocketInterests()
        interests.want(1, of: 7)
        _ = changes(&interests)
        interests.want(0, of: 7)
        interests.forget(7)
        #expect(changes(&interests).isEmpty)
        #expect(!interests.isWanted(7))
    }

    @Test func whatIsNotWatchedHasNoEvents() {
        var interests = SocketInterests()
        #expect(!interests.isWatched(7))
        interests.want(1, of: 7)
        #expect(interests.isWanted(7))
        #expect(!interests.isWatched(7))
        _ = changes(&interests)
        #expect(interests.isWatched(7))
        interests.forget(7)
        interests.want(4, of: 7)
        #expect(!interests.isWatched(7))
    }

    @Test func numbersThatAreNoneAreIgnored() {
        var interests = SocketInterests()
        interests.want(1, of: -1)
        interests.forget(-1)
        interests.forget(1_000)
        #expect(!interests.isWatched(-1))
        #expect(!interests.isWanted(-1))
        #expect(changes(&interests).isEmpty)
    }

    @Test func socketsAreHandedOutInTheOrderOfTheirChanges() {
        var interests = SocketInterests()
        for socket: Int32 in [9, 3, 5] { interests.want(1, of: socket) }
        #expect(changes(&interests) == [.add(9, 1), .add(3, 1), .add(5, 1)])
    }
}
