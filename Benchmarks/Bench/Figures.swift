/// One client's results for one workload, as medians over all rounds.
struct Figures {
    let client: String
    let requestsPerSecond: Double
    let cpuSecondsPerRequest: Double
    let switchesPerRequest: Double
    let peakMegabytes: Double
    /// The counted work, if requested.
    var counts: Counts?

    init(client: String, rounds: [Measured]) {
        self.client = client
        requestsPerSecond = rounds.map { Double($0.requests) / $0.seconds }.median
        cpuSecondsPerRequest = rounds.map { $0.cpuSeconds / Double($0.requests) }.median
        switchesPerRequest = rounds.map { Double($0.switches) / Double($0.requests) }.median
        peakMegabytes = rounds.map { Double($0.peakKilobytes) * 1024 / 1e6 }.median
    }
}

extension [Double] {
    /// The median, or 0 for an empty array.
    fileprivate var median: Double {
        guard !isEmpty else { return 0 }
        let sorted = sorted()
        return (sorted[(count - 1) / 2] + sorted[count / 2]) / 2
    }
}
