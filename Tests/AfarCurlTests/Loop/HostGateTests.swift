import Testing

@testable import AfarCurl

struct HostGateTests {
    private final class Waiter: CustomStringConvertible {
        let description: String
        init(_ name: String) { description = name }
    }

    private typealias Gate = HostGate<Waiter>

    private func drain(_ gate: inout Gate) -> [String] {
        var names: [String] = []
        while let waiter = gate.admit() { names.append(waiter.description) }
        return names
    }

    @discardableResult
    private func enqueue(_ names: String, _ host: String, _ gate: inout Gate, lookup: Bool = false) -> Gate.Lane? {
        var lane: Gate.Lane?
        for name in names { lane = gate.enqueue(Waiter(String(name)), host: host, needsLookup: lookup) }
        return lane
    }

    @Test func admitsUpToTheLimitInOrder() throws {
        var gate = Gate(limitPerHost: 2, lookupLimit: 9)
        let lane = try #require(enqueue("abcd", "h", &gate))
        #expect(drain(&gate) == ["a", "b"])
        gate.release(lane)
        #expect(drain(&gate) == ["c"])
        gate.release(lane)
        gate.release(lane)
        #expect(drain(&gate) == ["d"])
    }

    @Test func hostsDoNotHoldEachOtherUp() throws {
        var gate = Gate(limitPerHost: 1, lookupLimit: 9)
        enqueue("ab", "h", &gate)
        enqueue("cd", "i", &gate)
        #expect(drain(&gate) == ["a", "c"])
    }

    @Test func hostsTakeTurns() {
        var gate = Gate(limitPerHost: 9, lookupLimit: 9)
        enqueue("abc", "h", &gate)
        enqueue("xyz", "i", &gate)
        #expect(drain(&gate) == ["a", "x", "b", "y", "c", "z"])
    }

    @Test func lookupsAreLimitedOverAllHosts() throws {
        var gate = Gate(limitPerHost: 9, lookupLimit: 2)
        let first = try #require(enqueue("a", "h", &gate, lookup: true))
        enqueue("b", "i", &gate, lookup: true)
        enqueue("c", "j", &gate, lookup: true)
        enqueue("d", "127.0.0.1", &gate)
        #expect(drain(&gate) == ["a", "b", "d"])
        gate.lookupEnded(first)
        #expect(drain(&gate) == ["c"])
    }

    @Test func limitsBelowOneAreOne() {
        var gate = Gate(limitPerHost: 0, lookupLimit: -1)
        enqueue("ab", "h", &gate, lookup: true)
        #expect(drain(&gate) == ["a"])
    }

    @Test func whoWithdrawsIsNotAdmitted() throws {
        var gate = Gate(limitPerHost: 1, lookupLimit: 9)
        let lane = try #require(enqueue("a", "h", &gate))
        #expect(drain(&gate) == ["a"])
        let waiter = Waiter("w")
        #expect(gate.enqueue(waiter, host: "h", needsLookup: false) === lane)
        enqueue("b", "h", &gate)
        gate.withdraw(waiter, from: lane)
        gate.withdraw(waiter, from: lane)
        gate.release(lane)
        #expect(drain(&gate) == ["b"])
    }

    @Test func theLastToWithdrawLeavesNothingToAdmit() {
        var gate = Gate(limitPerHost: 1, lookupLimit: 9)
        let waiter = Waiter("w")
        let lane = gate.enqueue(waiter, host: "h", needsLookup: false)
        gate.withdraw(waiter, from: lane)
        #expect(drain(&gate).isEmpty)
        #expect(enqueue("a", "h", &gate) !== lane)
        #expect(drain(&gate) == ["a"])
    }

    @Test func unusedLanesAreForgotten() throws {
        var gate = Gate(limitPerHost: 1, lookupLimit: 9)
        let lane = try #require(enqueue("a", "h", &gate))
        #expect(drain(&gate) == ["a"])
        #expect(enqueue("b", "h", &gate) === lane)
        gate.release(lane)
        #expect(drain(&gate) == ["b"])
        gate.release(lane)
        #expect(enqueue("c", "h", &gate) !== lane)
    }

    @Test func orderHoldsForALongQueue() throws {
        var gate = Gate(limitPerHost: 1, lookupLimit: 9)
        var names: [String] = []
        for number in 0..<500 { _ = gate.enqueue(Waiter("\(number)"), host: "h", needsLookup: false) }
        let lane = try #require(enqueue("z", "h", &gate))
        while let waiter = gate.admit() {
            names.append(waiter.description)
            gate.release(lane)
        }
        #expect(names == (0..<500).map(String.init) + ["z"])
    }

    @Test func whoHasBeenAdmittedIsNotKept() {
        var gate = Gate(limitPerHost: 9, lookupLimit: 9)
        weak var admitted: Waiter?
        do {
            let waiter = Waiter("a")
            admitted = waiter
            _ = gate.enqueue(waiter, host: "h", needsLookup: false)
            _ = gate.enqueue(Waiter("b"), host: "h", needsLookup: false)
            #expect(gate.admit() === waiter)
        }
        #expect(admitted == nil)
        #expect(drain(&gate) == ["b"])
    }
}
