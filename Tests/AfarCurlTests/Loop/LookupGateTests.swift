import Testing

@testable import AfarCurl

struct LookupGateTests {
    private final class Waiter {
        let name: Character
        init(_ name: Character) { self.name = name }
    }

    private typealias Gate = LookupGate<Waiter>

    /// Enters all of them, and gives the places of those who waited not.
    private func enter(_ names: String, _ gate: inout Gate) -> [Gate.Place] {
        names.map { gate.enter(Waiter($0)) }.filter(\.isAdmitted).map(\.place)
    }

    private func drain(_ gate: inout Gate) -> String {
        var names = ""
        while let waiter = gate.admit() { names.append(waiter.name) }
        return names
    }

    @Test func someRunAndTheRestWaitInOrder() {
        var gate = Gate(limit: 2)
        let running = enter("abcd", &gate)
        #expect(running.count == 2)
        #expect(drain(&gate) == "")
        gate.release(running[0])
        #expect(drain(&gate) == "c")
        gate.release(running[1])
        #expect(drain(&gate) == "d")
    }

    /// A place can become free while libcurl is at work, and somebody new comes before the loop has looked who waits.
    @Test func nobodyOvertakesThoseWhoWait() {
        var gate = Gate(limit: 1)
        let running = enter("ab", &gate)
        gate.release(running[0])
        #expect(enter("c", &gate).isEmpty)
        #expect(drain(&gate) == "b")
    }

    @Test func whoWithdrawsIsNotAdmitted() {
        var gate = Gate(limit: 1)
        let running = enter("a", &gate)
        let place = gate.enter(Waiter("b")).place
        _ = gate.enter(Waiter("c"))
        gate.withdraw(place)
        gate.release(running[0])
        #expect(drain(&gate) == "c")
    }

    @Test func abandonedLookupsMakeRoomUpToALimit() {
        var gate = Gate(limit: 2)
        for number in 0..<3 {
            let running = enter("ab", &gate)
            #expect(running.count == 2, "\(number)")
            for place in running { gate.abandon(place) }
        }
        #expect(gate.abandonedCount == 6)
        #expect(enter("xyz", &gate).isEmpty)
        gate.abandonedEnded()
        #expect(drain(&gate) == "xy")
    }

    @Test(arguments: [0, -1, .min, .max])
    func anyLimitHasRoomForOne(_ limit: Int) {
        var gate = Gate(limit: limit)
        #expect(enter("a", &gate).count == 1)
    }
}
