/// A kind of request that is repeated many times.
struct Trial: Sendable {
    let title: String
    let requests: Int
    /// The number of requests after which resource use must be stable.
    let warmUp: Int
    /// Whether growing memory use or open descriptors are failures.
    var checksResources = true
    /// Makes the request with the given number and returns when it has completed.
    let perform: @Sendable (_ number: Int, _ ledger: Ledger) async -> Void

    /// The number of concurrent requests.
    static let inFlight = 64
    /// The number of parts of the trial. It pauses after each part for measuring.
    static let laps = 200

    /// Returns the numbers of the requests in a part of the trial.
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
