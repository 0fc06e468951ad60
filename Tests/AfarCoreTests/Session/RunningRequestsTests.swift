import Testing

@testable import AfarCore

@Suite struct RunningRequestsTests {
    private final class Subject: Sendable {}

    private var running = RunningRequests<Subject>()
    private let one = Subject()
    private let other = Subject()

    @Test mutating func insertedRequestsRemainUntilRemoved() {
        running.insert(one)
        running.insert(one)
        running.insert(other)
        #expect(Set(running.all.map(ObjectIdentifier.init)) == Set([one, other].map(ObjectIdentifier.init)))
        _ = running.remove(one)
        #expect(running.all.map(ObjectIdentifier.init) == [ObjectIdentifier(other)])
    }

    @Test mutating func waitersAreCalledOnceAfterTheLastRequest() {
        running.insert(one)
        running.insert(other)
        let atOnce = running.whenFinished([one, other]) {}
        let afterOne = running.remove(one)
        let afterAll = running.remove(other)
        let afterwards = running.remove(other)
        #expect([atOnce.count, afterOne.count, afterAll.count, afterwards.count] == [0, 0, 1, 0])
    }

    @Test mutating func waitersIgnoreOtherRequests() {
        running.insert(one)
        running.insert(other)
        let atOnce = running.whenFinished([one]) {}
        let afterOther = running.remove(other)
        running.insert(other)
        let afterOne = running.remove(one)
        #expect([atOnce.count, afterOther.count, afterOne.count] == [0, 0, 1])
    }

    @Test mutating func withoutRequestsWaitersAreCalledImmediately() {
        let forNone = running.whenFinished([]) {}
        running.insert(other)
        let forOneThatIsOver = running.whenFinished([one]) {}
        #expect([forNone.count, forOneThatIsOver.count] == [1, 1])
    }
}
