import Foundation
import Testing

@testable import AfarCore

/// The state machine for credentials and refreshes.
@Suite struct CredentialStateTests {
    private struct Offline: Error {}

    private func state(
        _ credential: String? = "old", interval: TimeInterval = 30, maximumAttempts: Int = 5
    ) -> CredentialState<String> {
        CredentialState(credential: credential, interval: interval, maximumAttempts: maximumAttempts)
    }

    /// Returns a textual description of the next action.
    private func described(_ next: CredentialState<String>.Next) -> String {
        switch next {
        case .use(let credential): "use \(credential)"
        case .fail(let error): "fail \(error)"
        case .wait: "wait"
        case .refresh(let credential, let number): "refresh \(credential) as \(number)"
        }
    }

    private func nextAction(
        _ state: inout CredentialState<String>, insteadOf stale: Int? = nil, began: TimeInterval? = nil,
        now: TimeInterval = 0, _ waiter: @escaping CredentialState<String>.Waiter = { _ in }
    ) -> String {
        described(state.next(insteadOf: stale, began: began, uptime: now, waiter))
    }

    @Test func aValidCredentialIsUsed() {
        var state = state()
        #expect(nextAction(&state) == "use old")
    }

    @Test func aMissingCredentialIsAnError() {
        var state = state(nil)
        #expect(nextAction(&state) == "fail missingCredential")
        #expect(nextAction(&state, insteadOf: 0) == "fail missingCredential")
    }

    @Test func theFirstRefreshesAndTheOthersWait() {
        var state = state()
        #expect(nextAction(&state, insteadOf: 0) == "refresh old as 1")
        #expect(nextAction(&state, insteadOf: 0) == "wait")
        #expect(nextAction(&state) == "wait")
        #expect(state.finishRefresh(1, with: .success("new"), now: 1).count == 3)
        #expect(nextAction(&state) == "use new")
    }

    @Test func aRejectedOldCredentialIsReplacedWithTheNewOne() {
        var state = state()
        _ = nextAction(&state, insteadOf: 0)
        _ = state.finishRefresh(1, with: .success("new"), now: 1)
        #expect(nextAction(&state, insteadOf: 0) == "use new")
        #expect(nextAction(&state, insteadOf: 1) == "refresh new as 2")
    }

    @Test func aSecondCompletionOfARefreshIsIgnored() {
        var state = state()
        _ = nextAction(&state, insteadOf: 0)
        #expect(state.finishRefresh(1, with: .success("new"), now: 1).count == 1)
        #expect(state.finishRefresh(1, with: .success("other"), now: 1).isEmpty)
        #expect(state.credential == "new")
    }

    @Test func aLateCompletionOfAnOldRefreshIsIgnored() {
        var state = state()
        _ = nextAction(&state, insteadOf: 0)
        _ = state.finishRefresh(1, with: .failure(Offline()), now: 1)
        #expect(nextAction(&state, insteadOf: 0, now: 2) == "refresh old as 2")
        #expect(state.finishRefresh(1, with: .success("late"), now: 3).isEmpty)
        #expect(state.credential == "old")
        #expect(state.finishRefresh(2, with: .success("new"), now: 3).count == 1)
        #expect(state.credential == "new")
    }

    @Test func requestsStartedBeforeAFailedRefreshShareItsFailure() {
        var state = state()
        _ = nextAction(&state, insteadOf: 0, began: 10, now: 11)
        _ = state.finishRefresh(1, with: .failure(Offline()), now: 12)
        #expect(nextAction(&state, insteadOf: 0, began: 12, now: 13) == "fail Offline()")
        #expect(nextAction(&state, insteadOf: 0, began: 13, now: 13) == "refresh old as 2")
    }

    @Test func settingACredentialClearsTheFailure() {
        var state = state()
        _ = nextAction(&state, insteadOf: 0)
        _ = state.finishRefresh(1, with: .failure(Offline()), now: 12)
        #expect(state.replace(with: "set").isEmpty)
        #expect(nextAction(&state, insteadOf: 0, began: 10) == "use set")
        #expect(nextAction(&state, insteadOf: 1, began: 10, now: 13) == "refresh set as 2")
    }

    @Test func settingACredentialEndsTheWait() {
        var state = state()
        _ = nextAction(&state, insteadOf: 0)
        #expect(state.replace(with: nil).count == 1)
        #expect(state.finishRefresh(1, with: .success("late"), now: 1).isEmpty)
        #expect(state.credential == nil)
    }

    @Test func refreshesAreCountedInTheWindow() {
        var state = state(interval: 10, maximumAttempts: 2)
        #expect(nextAction(&state, insteadOf: 0, now: 0) == "refresh old as 1")
        _ = state.finishRefresh(1, with: .success("a"), now: 0)
        #expect(nextAction(&state, insteadOf: 1, now: 5) == "refresh a as 2")
        _ = state.finishRefresh(2, with: .success("b"), now: 5)
        #expect(nextAction(&state, insteadOf: 2, now: 9) == "fail excessiveRefresh")
        #expect(nextAction(&state, now: 9) == "use b")
        #expect(nextAction(&state, insteadOf: 2, now: 10) == "refresh b as 3")
    }
}
