import Afar
import Foundation

extension Trial {
    /// Makes all the requests, prints what they took, and says what held.
    func measure(on stage: Stage, judgesMemory: Bool) async -> (ledger: Ledger, checks: [Check]) {
        print("\n\(title): \(requests) requests, \(Self.inFlight) in flight")
        Table.printTitles()
        let ledger = Ledger(requests: requests)
        let watchdog = Watchdog(ledger)
        let start = DispatchTime.now().uptimeNanoseconds
        // A transport starts with its first request, and has two descriptors from then on.
        await stage.fillPools()
        var samples: [Sample] = []
        var descriptorsWithoutConnections = 0
        for lap in 0..<Self.laps {
            let numbers = numbers(ofLap: lap)
            await run(numbers, ledger)
            await stage.standStill()
            let seconds = Double(DispatchTime.now().uptimeNanoseconds - start) / 1e9
            let sample = Sample(requests: numbers.upperBound, seconds: seconds)
            if (lap + 1) % 20 == 0 { Table.printRow(sample) }
            if sample.requests > warmUp { samples.append(sample) }
            if sample.requests == warmUp / 2 {
                descriptorsWithoutConnections = await stage.descriptorsWithoutConnections()
                await stage.fillPools()
            }
        }
        watchdog.stop()
        let checks = [
            checkCompletions(ledger),
            checkOutcomes(ledger),
            checkDescriptors(
                samples, before: descriptorsWithoutConnections, after: await stage.descriptorsWithoutConnections()),
        ]
        return (ledger, checks + checkMemory(samples, isJudged: judgesMemory))
    }

    private func checkCompletions(_ ledger: Ledger) -> Check {
        guard let (count, example) = ledger.irregular(among: requests) else {
            return Check("each request was completed once to its handler and once to its task", true)
        }
        return Check("\(count) times a request was not completed exactly once: \(example)", false)
    }

    private func checkOutcomes(_ ledger: Ledger) -> Check {
        let list = { (outcomes: [String: Int]) in
            outcomes.sorted { $0.key < $1.key }.map { "\n           \($0.value) × \($0.key)" }.joined()
        }
        let unexpected = ledger.unexpected
        guard unexpected.isEmpty else { return Check("unexpected:\(list(unexpected))", false) }
        return Check("the outcomes are those expected:\(list(ledger.expected))", true)
    }

    /// Between two requests, a connection may be open or not. So the count may vary by as many as may be kept, with the
    /// two that libcurl has for itself in each session, and must be the same again when all are closed.
    private func checkDescriptors(_ samples: [Sample], before: Int, after: Int) -> Check {
        let most = samples.map(\.descriptors).max() ?? 0
        return Check(
            "descriptors without connections: \(before) after \(warmUp / 2) requests, \(after) in the end; "
                + "with connections \(most) at most",
            !judgesResources || before == after && most <= before + Self.inFlight + 4)
    }

    /// A line through all the points is less at the mercy of one of them than the difference of the first and the last. What
    /// it may owe to chance is twice its standard error; a leak is tens of bytes for each request that has one.
    private func checkMemory(_ samples: [Sample], isJudged: Bool) -> [Check] {
        let points = samples.map { (x: Double($0.requests), y: Double($0.heapBytes)) }
        guard let trend = Trend(points) else { return [] }
        let text = String(
            format: "memory in use grows by %.3f ± %.3f bytes per request after %d requests",
            trend.slope, trend.error, warmUp)
        return [Check(isJudged ? text : text + " (too few to judge)", !isJudged || trend.slope - 2 * trend.error < 1)]
    }
}

extension Stage {
    /// Returns when no request is running and the process has put away what belonged to them.
    fileprivate func standStill() async {
        for session in [session, strictSession, urlSession] {
            while !session.delegate.runningRequests.isEmpty { await Task.yield() }
        }
        try? await Task.sleep(for: .milliseconds(20))
    }

    /// Has as many requests in flight at once as there ever are: the transports keep that many of libcurl's handles from
    /// then on, and do not come to them by and by.
    fileprivate func fillPools() async {
        await withTaskGroup(of: Void.self) { group in
            for session in [session, strictSession] {
                for _ in 0..<Trial.inFlight {
                    group.addTask {
                        _ = await session.request(scripts.url(.keepsSilent)) { $0.timeoutInterval = 0.2 }
                            .serializingData().response
                    }
                }
            }
        }
    }

    /// The descriptors that stay open when all connections are closed.
    fileprivate func descriptorsWithoutConnections() async -> Int {
        closeIdleConnections()
        return await Sample.settledDescriptors()
    }
}

extension Sample {
    /// The number of open descriptors when it has not changed for a while.
    static func settledDescriptors() async -> Int {
        var count = countDescriptors()
        var calm = 0
        while calm < 10 {
            try? await Task.sleep(for: .milliseconds(10))
            let next = countDescriptors()
            calm = next == count ? calm + 1 : 0
            count = next
        }
        return count
    }
}
