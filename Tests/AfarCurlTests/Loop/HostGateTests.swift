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
    private func enqueue(_ names: String, _ host: String, _ gate: inout Gate) -> Gate.Place? {
        var place: Gate.Place?
        for name in names { place = gate.enqueue(Waiter(String(name)), host: host) }
        return place
    }

    @Test func admitsUpToTheLimitInOrder() throws {
        var gate = Gate(limitPerHost: 2)
        let place = try #require(enqueue("abcd", "h", &gate))
        #expect(drain(&gate) == ["a", "b"])
        gate.release(place)
        #expect(drain(&gate) == ["c"])
        gate.release(place)
        gate.release(place)
        #expect(drain(&gate) == ["d"])
    }

    @Test func hostsDoNotHoldEachOtherUp() throws {
        var gate = Gate(limitPerHost: 1)
        enqueue("ab", "h", &gate)
        enqueue("cd", "i", &gate)
        #expect(drain(&gate) == ["a", "c"])
    }

    @Test func hostsTakeTurns() {
        var gate = Gate(limitPerHost: 9)
        enqueue("abc", "h", &gate)
        enqueue("xyz", "i", &gate)
        #expect(drain(&gate) == ["a", "x", "b", "y", "c", "z"])
    }

    @Test func limitsBelowOneAreOne() {
        var gate = Gate(limitPerHost: 0)
        enqueue("ab", "h", &gate)
        #expect(drain(&gate) == ["a"])
    }

    @Test func whoWithdrawsIsNotAdmitted() throws {
        var gate = Gate(limitPerHost: 1)
        let first = try #require(enqueue("a", "h", &gate))
        #expect(drain(&gate) == ["a"])
        let place = try #require(enqueue("w", "h", &gate))
        enqueue("b", "h", &gate)
        gate.withdraw(place)
        gate.withdraw(place)
        gate.release(first)
        #expect(drain(&gate) == ["b"])
    }

    @Test func theLastToWithdrawLeavesNothingToAdmit() throws {
        var gate = Gate(limitPerHost: 1)
        let place = try #require(enqueue("w", "h", &gate))
        gate.withdraw(place)
        #expect(drain(&gate).isEmpty)
        #expect(gate.hostCount == 0)
        enqueue("a", "h", &gate)
        gate.withdraw(place)
        #expect(drain(&gate) == ["a"])
    }

    @Test func unusedHostsAreForgotten() throws {
        var gate = Gate(limitPerHost: 1)
        let first = try #require(enqueue("a", "h", &gate))
        #expect(drain(&gate) == ["a"])
        let second = try #require(enqueue("b", "h", &gate))
        gate.release(first)
        #expect(drain(&gate) == ["b"])
        #expect(gate.hostCount == 1)
        gate.release(second)
        #expect(gate.hostCount == 0)
    }

    @Test func withdrawingAtRandomKeepsTheOrder() {
        var generator = SeededGenerator(seed: 1)
        var gate = Gate(limitPerHost: 2)
        var waiting: [(name: String, place: Gate.Place)] = []
        var admitted: [Gate.Place] = []
        for number in 0..<5_000 {
            let waiter = Waiter("\(number)")
            waiting.append((waiter.description, gate.enqueue(waiter, host: "h")))
            if Bool.random(using: &generator), !waiting.isEmpty {
                gate.withdraw(waiting.remove(at: Int.random(in: waiting.indices, using: &generator)).place)
            }
            if Int.random(in: 0..<3, using: &generator) == 0, !admitted.isEmpty { gate.release(admitted.removeLast()) }
            while let next = gate.admit() {
                #expect(next.description == waiting.first?.name)
                admitted.append(waiting.removeFirst().place)
            }
            #expect(admitted.count <= 2)
        }
        for place in waiting.map(\.place) { gate.withdraw(place) }
        for place in admitted { gate.release(place) }
        #expect(gate.hostCount == 0)
    }

    @Test func orderHoldsForALongQueue() throws {
        var gate = Gate(limitPerHost: 1)
        var names: [String] = []
        for number in 0..<500 { _ = gate.enqueue(Waiter("\(number)"), host: "h") }
        let place = try #require(enqueue("z", "h", &gate))
        while let waiter = gate.admit() {
            names.append(waiter.description)
            gate.release(place)
        }
        #expect(names == (0..<500).map(String.init) + ["z"])
    }

    @Test func whoHasBeenAdmittedIsNotKept() {
        var gate = Gate(limitPerHost: 9)
        weak var admitted: Waiter?
        do {
            let waiter = Waiter("a")
            admitted = waiter
            _ = gate.enqueue(waiter, host: "h")
            _ = gate.enqueue(Waiter("b"), host: "h")
            #expect(gate.admit() === waiter)
        }
        #expect(admitted == nil)
        #expect(drain(&gate) == ["b"])
    }
}
