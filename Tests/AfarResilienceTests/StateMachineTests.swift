import Foundation
import Testing

@testable import AfarResilience

@Suite struct TokenBucketTests {
    @Test func retriesTakeTokensAndSuccessesReturnThem() {
        var bucket = TokenBucket(capacity: 2, at: .zero)
        let permitted = (0..<3).map { _ in bucket.take(1, at: .zero) }
        #expect(permitted == [true, true, false])
        for _ in 0..<9 { bucket.add(0.1, at: .zero) }
        #expect(bucket.take(1, at: .zero) == false)
        bucket.add(0.1, at: .zero)
        #expect(bucket.take(1, at: .zero) == true)
    }

    @Test func timeRefillsTheBucketUpToItsCapacity() {
        var bucket = TokenBucket(capacity: 5, refillPerSecond: 0.5, tokens: 0, at: .seconds(10))
        #expect([11, 12, 20, 1_000, 0].map { bucket.count(at: .seconds($0)) } == [0.5, 1, 5, 5, 0])
        #expect(bucket.take(2, at: .seconds(14)) == true)
        #expect(bucket.take(1, at: .seconds(15)) == false)
        #expect(bucket.take(1, at: .seconds(16)) == true)
    }

    @Test(arguments: [-1, 0, .nan, -Double.infinity])
    func invalidSettingsDontPermitRetries(capacity: Double) {
        var bucket = TokenBucket(capacity: capacity, refillPerSecond: -1, at: .zero)
        bucket.add(-5, at: .seconds(1))
        #expect(bucket.take(1, at: .seconds(100)) == false)
        #expect(bucket.count(at: .seconds(100)) == 0)
    }

    @Test func theQuotaOfTheAWSClientsPermits100RetriesOr50AfterTimeouts() {
        let quota = RetryBudget.quota
        for (cost, expected) in [(quota.retryCost, 100), (quota.timeoutCost, 50)] {
            var bucket = TokenBucket(capacity: quota.capacity, refillPerSecond: quota.refillPerSecond, at: .zero)
            let permitted = (0..<200).count { _ in bucket.take(cost, at: .seconds(1_000)) }
            #expect(permitted == expected)
        }
    }
}

@Suite struct CallWindowTests {
    private let failure = CallCounts(calls: 1, failures: 1, slow: 0)
    private let success = CallCounts(calls: 1, failures: 0, slow: 0)
    private let slow = CallCounts(calls: 1, failures: 0, slow: 1)

    @Test func aWindowOfCallsForgetsTheOldestCall() {
        var window = CallWindow(.calls(3))
        var rates: [Double] = []
        for call in [failure, failure, slow, success, success, success, failure] {
            window.record(call, at: .zero)
            rates.append(window.counts(at: .zero).failureRate)
        }
        #expect(rates.map { ($0 * 3).rounded() } == [3, 3, 2, 1, 0, 0, 1])
        #expect(window.counts(at: .seconds(1_000_000)) == CallCounts(calls: 3, failures: 1, slow: 0))
    }

    /// The period advances in steps of a second.
    @Test(arguments: [
        (0.0, 1), (0.9, 1), (5, 1), (9.9, 1), (10, 0), (11, 0), (1e6, 0),
    ])
    func aPeriodForgetsCallsAfterIts(seconds: Double, count: Int) {
        var window = CallWindow(.period(.seconds(10)))
        window.record(failure, at: .zero)
        #expect(window.counts(at: .seconds(seconds)).calls == count)
    }

    @Test func aPeriodAddsUpItsSteps() {
        var window = CallWindow(.period(.seconds(10)))
        var counts: [Int] = []
        for second in 0..<25 {
            window.record(second < 12 ? failure : slow, at: .seconds(second))
            counts.append(window.counts(at: .seconds(second)).failures)
        }
        #expect(counts == Array(1...10) + [10, 10] + (0...9).reversed() + [0, 0, 0])
        #expect(window.counts(at: .seconds(24)) == CallCounts(calls: 10, failures: 0, slow: 10))
    }

    @Test func extremeWindowsAndTimesAreAccepted() {
        let extremes: [CircuitBreaker.Window] = [
            .calls(0), .calls(-5), .calls(.max), .period(.zero), .period(.seconds(-1)), .period(.seconds(1e15)),
        ]
        for window in extremes {
            var calls = CallWindow(window)
            for now in [Duration.zero, .seconds(-1), .seconds(1e18), .zero] { calls.record(failure, at: now) }
            #expect(calls.counts(at: .seconds(1e18)).failureRate == 1)
        }
    }
}

@Suite struct CircuitTests {
    /// A step: a call that succeeds, fails, is slow, or doesn't count, a call that stays open, or the end of such a call.
    private enum Step {
        case ok, fail, slow, cancelled
        case begin, endOK, endFail, endCancelled
        case wait(Double)
        case forceOpen, forceClosed, reset
    }

    /// Performs the steps. Returns the states after each step, with `-` for a call that was rejected.
    private func run(_ steps: [Step], _ change: (inout CircuitBreaker) -> Void = { _ in }) -> String {
        var rules = CircuitBreaker()
        (rules.window, rules.minimumCalls, rules.openDuration) = (.calls(10), 4, .seconds(5))
        rules.slowCallDuration = .seconds(1)
        change(&rules)
        var circuit = Circuit(rules)
        var now = Duration.zero
        var open: [Circuit.Ticket] = []
        return steps.map { step in
            var result: (isFailure: Bool?, duration: Duration)?
            var ticket: Circuit.Ticket?
            switch step {
            case .ok: result = (false, .zero)
            case .fail: result = (true, .zero)
            case .slow: result = (false, .seconds(1))
            case .cancelled: result = (nil, .zero)
            case .begin: break
            case .endOK: (result, ticket) = ((false, .zero), open.removeFirst())
            case .endFail: (result, ticket) = ((true, .zero), open.removeFirst())
            case .endCancelled: (result, ticket) = ((nil, .zero), open.removeFirst())
            case .wait(let seconds): now += .seconds(seconds)
            case .forceOpen: circuit.force(.forcedOpen)
            case .forceClosed: circuit.force(.forcedClosed)
            case .reset: circuit.reset()
            }
            switch step {
            case .wait, .forceOpen, .forceClosed, .reset: break
            default:
                if ticket == nil {
                    guard case .admitted(let admitted) = circuit.admit(at: now) else { return "-" }
                    ticket = admitted
                }
                guard let ticket else { return "?" }
                if let result {
                    circuit.record(ticket, isFailure: result.isFailure, duration: result.duration, at: now)
                } else {
                    open.append(ticket)
                }
            }
            switch circuit.state {
            case .closed: return "C"
            case .open: return "O"
            case .halfOpen: return "H"
            case .forcedClosed: return "c"
            case .forcedOpen: return "o"
            }
        }.joined()
    }

    @Test func opensAtTheFailureRate() {
        #expect(run([.fail, .fail, .fail, .fail, .ok]) == "CCCO-")
        #expect(run([.ok, .ok, .fail, .fail, .ok]) == "CCCO-")
        #expect(run([.ok, .ok, .ok, .fail, .fail, .fail]) == "CCCCCO")
        #expect(run([.ok, .fail, .ok, .ok, .fail, .ok, .ok]) == "CCCCCCC")
    }

    /// The default of `minimumCalls` exceeds a small window.
    @Test func aSmallWindowOpensWhenItIsFull() {
        #expect(run([.fail, .fail, .fail, .ok]) { ($0.window, $0.minimumCalls) = (.calls(3), 20) } == "CCO-")
    }

    @Test func opensAtTheRateOfSlowCalls() {
        #expect(run([.slow, .ok, .slow, .ok]) == "CCCO")
        #expect(run([.slow, .ok, .slow, .ok]) { $0.slowCallRate = 0.6 } == "CCCC")
        #expect(run([.slow, .slow, .slow, .slow]) { $0.slowCallDuration = nil } == "CCCC")
    }

    @Test func callsThatDontCountNeverOpenTheCircuit() {
        #expect(
            run([.fail, .fail, .fail] + Array(repeating: .cancelled, count: 20)) == String(repeating: "C", count: 23))
    }

    private let opened: [Step] = [.fail, .fail, .fail, .fail]

    @Test func aProbeDecides() {
        #expect(run(opened + [.wait(4.9), .ok, .wait(0.1), .ok, .ok]) == "CCCOO-OCC")
        #expect(run(opened + [.wait(5), .fail, .wait(4.9), .ok, .wait(0.1), .ok]) == "CCCOOOO-OC")
        #expect(run(opened + [.wait(5), .slow, .ok]) == "CCCOOO-")
    }

    @Test func onlyTheConfiguredNumberOfProbesPasses() {
        #expect(run(opened + [.wait(5), .begin, .begin, .endOK, .ok]) == "CCCOOH-CC")
        let three = run(opened + [.wait(5), .begin, .begin, .begin, .begin, .endOK, .endOK, .ok, .endOK, .ok]) {
            $0.probeCount = 3
        }
        #expect(three == "CCCOOHHH-HH-CC")
        let failed = run(opened + [.wait(5), .begin, .begin, .endOK, .endFail, .ok]) { $0.probeCount = 3 }
        #expect(failed == "CCCOOHHHO-")
    }

    @Test func aCanceledProbeMakesRoomForAnother() {
        #expect(run(opened + [.wait(5), .begin, .ok, .endCancelled, .ok]) == "CCCOOH-HC")
    }

    @Test func resultsOfAnEarlierPhaseDontCount() {
        // Calls that began before the circuit opened end while it is half-open.
        let steps: [Step] = [.begin, .begin] + opened + [.wait(5), .begin, .endOK, .endFail, .endOK]
        #expect(run(steps) == "CCCCCOOHHHC")
    }

    @Test func aClosedCircuitStartsWithAnEmptyWindow() {
        #expect(run(opened + [.wait(5), .ok, .fail, .fail, .fail, .fail]) == "CCCOOCCCCO")
    }

    @Test func circuitsCanBeForced() {
        #expect(run([.forceOpen, .ok, .wait(100), .ok, .reset, .ok]) == "o-o-CC")
        #expect(run([.forceClosed] + opened + opened + [.reset] + opened) == "cccccccccCCCCO")
        #expect(run(opened + [.forceClosed, .ok, .reset, .ok]) == "CCCOccCC")
    }

    @Test func theTimeOfTheNextProbeIsKnown() {
        var rules = CircuitBreaker()
        (rules.minimumCalls, rules.openDuration) = (1, .seconds(60))
        var circuit = Circuit(rules)
        guard case .admitted(let ticket) = circuit.admit(at: .seconds(3)) else { return #expect(Bool(false)) }
        circuit.record(ticket, isFailure: true, duration: .zero, at: .seconds(5))
        #expect(circuit.admit(at: .seconds(15)) == .rejected(retryAfter: .seconds(50)))
        guard case .admitted = circuit.admit(at: .seconds(65)) else { return #expect(Bool(false)) }
        #expect(circuit.admit(at: .seconds(65)) == .rejected(retryAfter: nil))
    }

    @Test func withoutRulesTheCircuitNeverOpens() {
        var circuit = Circuit(nil)
        for _ in 0..<100 {
            guard case .admitted(let ticket) = circuit.admit(at: .zero) else { return #expect(Bool(false)) }
            circuit.record(ticket, isFailure: true, duration: .seconds(100), at: .zero)
        }
        #expect(circuit.state == .closed)
    }

    @Test func extremeRulesAreAccepted() {
        let extreme: (inout CircuitBreaker) -> Void = { rules in
            (rules.minimumCalls, rules.probeCount, rules.failureRate) = (-1, -1, .nan)
            rules.openDuration = .seconds(-1)
            rules.slowCallDuration = .seconds(-1)
        }
        #expect(run([.ok, .ok], extreme) == "OO")
        #expect(run([.fail]) { ($0.minimumCalls, $0.openDuration) = (1, .seconds(1e18)) } == "O")
    }
}

@Suite struct WaitingLineTests {
    private let limits = Bulkhead(maximumConcurrent: 2, maximumWaiting: 2)

    @Test func requestsWaitInOrder() {
        var line = WaitingLine<String>()
        let entries = ["a", "b", "c", "d", "e"].map { line.enter($0, limits: limits) }
        #expect(entries == [.admitted, .admitted, .waiting(1), .waiting(2), .full])
        #expect((line.runningCount, line.waitingCount) == (2, 2))
        let next = [line.leave(), line.leave(), line.leave(), line.leave()]
        #expect(next == ["c", "d", nil, nil])
        #expect((line.runningCount, line.waitingCount) == (0, 0))
        let entry = line.enter("f", limits: limits)
        #expect(entry == .admitted)
    }

    @Test func aRequestThatLeavesMakesRoom() {
        var line = WaitingLine<String>()
        for waiter in ["a", "b", "c", "d"] { _ = line.enter(waiter, limits: limits) }
        #expect(line.remove(1) == true)
        #expect(line.remove(1) == false)
        #expect(line.enter("e", limits: limits) == .waiting(3))
        #expect([line.leave(), line.leave()] == ["d", "e"])
        #expect(line.remove(3) == false)
    }

    @Test func oneRequestAlwaysPasses() {
        var line = WaitingLine<String>()
        let limits = Bulkhead(maximumConcurrent: 0, maximumWaiting: -1)
        #expect([line.enter("a", limits: limits), line.enter("b", limits: limits)] == [.admitted, .full])
    }
}

@Suite struct LatencyWindowTests {
    private func percentile(_ rank: Double, of latencies: some Sequence<Int>) -> Duration? {
        var window = LatencyWindow(.percentile(rank))
        for latency in latencies { window.record(.milliseconds(latency)) }
        return window.percentile
    }

    @Test(arguments: [(0.5, 50), (0.9, 87), (0.95, 92), (1, 96), (0, 1), (2, 96), (-1, 1)])
    func thePercentileIsExact(rank: Double, milliseconds: Int) {
        // Computed after the 96th latency.
        let expected = rank == 0.5 ? 48 : milliseconds
        #expect(percentile(rank, of: (1...100).shuffledFrom96()) == .milliseconds(expected))
    }

    @Test func fewLatenciesHaveNoPercentile() {
        #expect(percentile(0.5, of: 1...31) == nil)
        #expect(percentile(0.5, of: 1...32) == .milliseconds(16))
    }

    @Test func oldLatenciesAreForgotten() {
        #expect(
            percentile(1, of: Array(repeating: 900, count: 64) + Array(repeating: 5, count: 128)) == .milliseconds(5))
    }
}

extension ClosedRange<Int> {
    /// The first 96 numbers in another order, then the others.
    fileprivate func shuffledFrom96() -> [Int] { (0..<96).map { $0 * 37 % 96 + 1 } + [97, 98, 99, 100] }
}
