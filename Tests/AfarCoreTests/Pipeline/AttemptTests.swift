import Foundation
import Testing

@testable import AfarCore

/// The sequence of a request's steps, walked through without a request.
struct AttemptTests {
    /// The steps from the start until all is over, by their names.
    ///
    /// - Parameter events: Gives what a step comes to, by name and how often it was taken before; nil for the usual.
    private func steps(
        _ attempt: Attempt = Attempt(), adapters: Int = 0, retriers: Int = 0, handlers: Int = 1,
        _ events: (_ step: String, _ turn: Int) -> Attempt.Event? = { _, _ in nil }
    ) -> [String] {
        var attempt = attempt
        var steps: [String] = []
        var waiting = handlers
        var unreleased = false
        var hasFailed = false
        var event = Attempt.Event.done
        while steps.count < 200 {
            let action = attempt.next(after: event)
            if case .over = action { return steps }
            let name = Self.name(of: action)
            let turn = steps.count { $0 == name }
            steps.append(name)
            switch action {
            case .perform(.begin): (waiting, hasFailed) = (handlers, false)
            case .perform(.makeURLRequest): event = .made(adapters: adapters)
            case .perform(.complete): event = .completed(hasFailed: hasFailed, retriers: retriers)
            case .perform(.takeHandler):
                if waiting > 0 {
                    event = .handlerTaken
                    waiting -= 1
                    unreleased = true
                } else if unreleased {
                    event = .allSerialized
                    unreleased = false
                } else {
                    event = .done
                }
            case .perform(.serialize): event = .serialized(hasFailed: false, retriers: retriers)
            default: event = .done
            }
            event = events(name, turn) ?? event
            if case .failed = event { hasFailed = true }
        }
        return steps + ["…"]
    }

    private static func name(of action: Attempt.Action) -> String {
        let step =
            switch action {
            case .perform(let work): "\(work)"
            case .ask(let question): "\(question)"
            case .over: "over"
            }
        return String(step.prefix { $0 != "(" })
    }

    private static let made = ["begin", "makeURLRequest", "makeBody", "makeExchange", "resumption"]
    private static let received = ["response", "headDisposition", "receive", "presentFile", "validate", "commit"]
    private static let completed = ["complete", "progress"]
    private static let handedOver = ["takeHandler", "serialize", "keep", "takeHandler", "release", "takeHandler"]
    private static let whole = made + received + completed + ["finish"] + handedOver

    @Test func aPlainRequest() {
        #expect(steps() == Self.whole)
    }

    @Test func everyAdapterIsAsked() {
        let asked = ["begin", "makeURLRequest", "adapter", "adapter", "checkAdapted", "makeBody"]
        #expect(Array(steps(adapters: 2).prefix(6)) == asked)
    }

    @Test func everyHandlerGetsItsResponseBeforeAnyIsHandedOver() {
        let turn = ["takeHandler", "serialize", "keep"]
        let all: [String] = turn + turn + turn + ["takeHandler", "release", "takeHandler"]
        #expect(Array(steps(handlers: 3).suffix(12)) == all)
        #expect(steps(handlers: 0).last == "takeHandler")
    }

    /// Something may have to be waited for any number of times before there is a response.
    @Test func whatStagesWaitForIsRun() {
        let steps = steps { step, turn in step == "response" && turn < 2 ? .stageWaits : nil }
        let waiting = ["response", "runStage", "response", "runStage"]
        #expect(steps == Self.made + waiting + Self.received + Self.completed + ["finish"] + Self.handedOver)
    }

    @Test func anInterceptorIsAskedWhenItIsItsTurn() {
        let steps = steps(adapters: 1) { step, turn in step == "adapter" && turn == 0 ? .turn : nil }
        #expect(Array(steps.prefix(5)) == ["begin", "makeURLRequest", "adapter", "adapter", "checkAdapted"])
    }

    @Test func aStreamIsReadBeforeItIsReceived() {
        let steps = steps { step, _ in step == "response" ? .streams : nil }
        let received = ["response", "body"] + Self.received.dropFirst(2)
        #expect(steps == Self.made + received + Self.completed + ["finish"] + Self.handedOver)
    }

    @Test func lateHandlersNeedNoAttempt() {
        #expect(steps(Attempt(forLateHandlers: true)) == Self.handedOver)
        let failing = steps(Attempt(forLateHandlers: true), retriers: 1) { step, _ in
            step == "serialize" ? .serialized(hasFailed: true, retriers: 1) : nil
        }
        #expect(failing == Self.handedOver, "nothing can be tried again")
    }

    @Test(arguments: [
        "makeURLRequest", "adapter", "checkAdapted", "makeBody", "makeExchange", "receive", "validate", "commit",
    ])
    func whateverFailsCompletesTheAttempt(failing: String) throws {
        let steps = steps(adapters: 1) { step, _ in step == failing ? .failed : nil }
        let index = try #require(steps.firstIndex(of: failing))
        #expect(Array(steps[(index + 1)...]) == Self.completed + ["finish"] + Self.handedOver)
    }

    @Test(arguments: [
        "makeURLRequest", "adapter", "checkAdapted", "makeBody", "makeExchange", "receive", "validate", "commit",
    ])
    func whateverFailsCanBeTriedAgain(failing: String) throws {
        let steps = steps(adapters: 1, retriers: 2) { step, turn in
            switch (step, turn) {
            case (failing, 0): .failed
            case ("retrier", 1): .retry(after: 1)
            default: nil
            }
        }
        let index = try #require(steps.firstIndex(of: failing))
        let retried = Self.completed + ["retrier", "retrier", "delay", "beginRetry", "begin", "makeURLRequest"]
        #expect(Array(steps[(index + 1)...].prefix(8)) == retried)
        #expect(Array(steps.suffix(7)) == ["finish"] + Self.handedOver)
    }

    @Test func aRetrierMayGiveUpForAll() {
        let steps = steps(retriers: 3) { step, _ in
            switch step {
            case "validate": .failed
            case "retrier": .giveUp
            default: nil
            }
        }
        #expect(steps.count { $0 == "retrier" } == 1)
        #expect(Array(steps.suffix(7)) == ["finish"] + Self.handedOver)
    }

    @Test func aRequestThatEndedMeanwhileIsNotTriedAgain() {
        let steps = steps(retriers: 1) { step, _ in
            switch step {
            case "validate", "beginRetry": .failed
            case "retrier": .retry(after: nil)
            default: nil
            }
        }
        #expect(Array(steps.suffix(9)) == ["retrier", "beginRetry", "finish"] + Self.handedOver)
        #expect(steps.count { $0 == "begin" } == 1)
    }

    @Test func aSerializersFailureCanBeTriedAgain() {
        let steps = steps(retriers: 1) { step, turn in
            switch (step, turn) {
            case ("serialize", 0): .serialized(hasFailed: true, retriers: 1)
            case ("retrier", _): .retry(after: nil)
            default: nil
            }
        }
        let first = Array(Self.whole.prefix { $0 != "keep" })
        let all: [String] = first + ["retrier", "beginRetry"] + Self.whole
        #expect(steps == all)
    }

    @Test func aSerializersFailureThatIsNotTriedAgainIsKept() {
        let steps = steps(retriers: 1, handlers: 2) { step, _ in
            step == "serialize" ? .serialized(hasFailed: true, retriers: 1) : nil
        }
        let turn = ["takeHandler", "serialize", "retrier", "keep"]
        let all: [String] = turn + turn + ["takeHandler", "release", "takeHandler"]
        #expect(Array(steps.suffix(11)) == all)
    }

    @Test func aFailedAttemptsSerializersAreNotTriedAgain() {
        let steps = steps(retriers: 1) { step, _ in
            switch step {
            case "validate": .failed
            case "serialize": .serialized(hasFailed: true, retriers: 1)
            default: nil
            }
        }
        #expect(steps.count { $0 == "retrier" } == 1)
    }

    /// Whatever steps fail and however often, each attempt is begun and completed once, and all handlers are called.
    @Test func everyWayEnds() {
        let failing = ["makeURLRequest", "adapter", "makeExchange", "receive", "validate", "commit", "serialize"]
        for mask in 0..<(1 << failing.count) {
            for answer in [Attempt.Event.retry(after: nil), .retry(after: 0), .done, .giveUp] {
                let steps = steps(adapters: 1, retriers: 1, handlers: 2) { step, turn in
                    if step == "retrier" { return answer }
                    guard let bit = failing.firstIndex(of: step), mask & 1 << bit != 0, turn == 0 else { return nil }
                    return step == "serialize" ? .serialized(hasFailed: true, retriers: 1) : .failed
                }
                #expect(steps.last == "takeHandler")
                #expect(steps.count { $0 == "begin" } == steps.count { $0 == "complete" })
                #expect(steps.count { $0 == "release" } == 1)
                #expect(steps.count { $0 == "finish" } >= 1)
                #expect(steps.count { $0 == "keep" } == 2)
                if steps != steps.filter({ $0 != "…" }) { Issue.record("it goes on for ever") }
            }
        }
    }
}
