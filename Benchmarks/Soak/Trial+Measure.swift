import Afar
import Foundation

extension Trial {
    /// Makes all requests, prints the resources used, and returns the results of the checks.
    func measure(on stage: Stage, checksMemory: Bool) async -> (ledger: Ledger, checks: [Check]) {
        print("\n\(title): \(requests) requests, \(Self.inFlight) in flight")
        Table.printTitles()
        let ledger = Ledger(requests: requests)
        let watchdog = Watchdog(ledger)
        let start = DispatchTime.now().uptimeNanoseconds
        // A transport starts with its first request and then keeps two descriptors open.
        await stage.fillPools()
        var samples: [Sample] = []
        var descriptorsWithoutConnections = 0
        for lap in 0..<Self.laps {
            let numbers = numbers(ofLap: lap)
            await run(numbers, ledger)
            await stage.settle()
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
        return (ledger, checks + checkMemory(samples, isChecked: checksMemory))
    }

    private func checkCompletions(_ ledger: Ledger) -> Check {
        guard let (count, example) = ledger.irregular(among: requests) else {
            return Check("each request completed once with its handler and once with its task", true)
        }
        return Check("\(count) completions are missing or repeated, for example \(example)", false)
    }

    private func checkOutcomes(_ ledger: Ledger) -> Check {
        let list = { (outcomes: [String: Int]) in
            outcomes.sorted { $0.key < $1.key }.map { "\n           \($0.value) × \($0.key)" }.joined()
        }
        let unexpected = ledger.unexpected
        guard unexpected.isEmpty else { return Check("unexpected:\(list(unexpected))", false) }
        return Check("all outcomes are expected:\(list(ledger.expected))", true)
    }

    /// Checks the number of open descriptors.
    ///
    /// With connections, the count may be higher by up to the maximum number of idle connections, plus two that libcurl
    /// opens in each session. Without connections, the count at the end must be the same as early in the trial.
    private func checkDescriptors(_ samples: [Sample], before: Int, after: Int) -> Check {
        let most = samples.map(\.descriptors).max() ?? 0
        return Check(
            "descriptors without connections: \(before) after \(warmUp / 2) requests, \(after) in the end; "
                + "with connections \(most) at most",
            !checksResources || before == after && most <= before + Self.inFlight + 4)
    }

    /// Checks whether memory use grows with the number of requests.
    ///
    /// A linear regression is more robust than the difference between the first and the last sample. Random variation
    /// accounts for up to twice the standard error; a leak is tens of bytes for each affected request.
    private func checkMemory(_ samples: [Sample], isChecked: Bool) -> [Check] {
        let points = samples.map { (x: Double($0.requests), y: Double($0.heapBytes)) }
        guard let trend = Trend(points) else { return [] }
        let text = String(
            format: "memory in use grows by %.3f ± %.3f bytes per request after %d requests",
            trend.slope, trend.error, warmUp)
        return [Check(isChecked ? text : text + " (too few to judge)", !isChecked || trend.slope - 2 * trend.error < 1)]
    }
}

extension Stage {
    /// Returns when no request is running and the process has released the requests' resources.
    fileprivate func settle() async {
        for session in checkedSessions + [urlSession] {
            while await isBusy(session) { await Task.yield() }
        }
        try? await Task.sleep(for: .milliseconds(20))
    }

    private func isBusy(_ session: Session) async -> Bool {
        await withCheckedContinuation { continuation in
            session.withAllRequests { continuation.resume(returning: !$0.isEmpty) }
        }
    }

    /// Sends the maximum number of concurrent requests, so that the transports allocate all that they keep now
    /// and not gradually during the trial.
    fileprivate func fillPools() async {
        await withTaskGroup(of: Void.self) { group in
            for session in checkedSessions {
                for _ in 0..<Trial.inFlight {
                    group.addTask {
                        _ = await session.request(scripts.url(.keepsSilent)) { $0.timeoutInterval = 0.2 }
                            .serializingData().response
                    }
                }
            }
        }
    }

    /// Closes all connections and returns the number of open descriptors.
    fileprivate func descriptorsWithoutConnections() async -> Int {
        closeIdleConnections()
        return await Sample.settledDescriptors()
    }
}

extension Sample {
    /// Returns the number of open descriptors when it hasn't changed for a while.
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
