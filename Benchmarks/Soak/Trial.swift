/// A sort of request that is made very often.
struct Trial: Sendable {
    let title: String
    let requests: Int
    /// The requests after which the process must have all that it needs.
    let warmUp: Int
    /// Whether memory and descriptors have to be as before in the end.
    var judgesResources = true
    /// Makes the request of a number and returns when it is over.
    let perform: @Sendable (_ number: Int, _ ledger: Ledger) async -> Void

    /// The requests that run at once.
    static let inFlight = 64
    /// How often the trial stands still to be measured.
    static let laps = 200

    /// The requests of a lap.
    func numbers(ofLap lap: Int) -> Range<Int> {
        requests * lap / Self.laps..<requests * (lap + 1) / Self.laps
    }

    func run(_ numbers: Range<Int>, _ ledger: Ledger) async {
        await withTaskGroup(of: Void.self) { group in
            for first in numbers.prefix(Self.inFlight) {
                group.addTask {
                    for number in stride(from: first, to: numbers.upperBound, by: Self.inFlight) {
                        await perform(number, ledger)
                    }
                }
            }
        }
        await ledger.settle()
    }
}
