import Foundation

extension Job {
    /// Warms up, measures, and prints the result as a line of JSON.
    ///
    /// - Parameter perform: Makes one request and returns the value that Bench checks: the size of the body in bytes
    ///   or, if the body is decoded, the field `answer`.
    public func measure(_ perform: @escaping @Sendable () async throws -> Int) async throws {
        _ = try await run(warmUp, perform)
        let start = Usage.now
        let yield = try await run(requests, perform)
        let end = Usage.now
        print(
            """
            {"requests":\(requests),"yield":\(yield),"seconds":\(end.seconds - start.seconds),\
            "cpuSeconds":\(end.cpuSeconds - start.cpuSeconds),"switches":\(end.switches - start.switches),\
            "peakKilobytes":\(Usage.peakKilobytes)}
            """)
    }

    /// Performs the requests in `inFlight` concurrent tasks. Each task makes its share sequentially.
    private func run(_ count: Int, _ perform: @escaping @Sendable () async throws -> Int) async throws -> Int {
        try await withThrowingTaskGroup(of: Int.self) { group in
            for index in 0..<inFlight {
                let share = (count + index) / inFlight
                group.addTask {
                    var yield = 0
                    for _ in 0..<share { yield += try await perform() }
                    return yield
                }
            }
            return try await group.reduce(0, +)
        }
    }
}
