import Afar
import Foundation
import Histogram

/// The measurements of the requests of a run. The memory use doesn't depend on the number of requests.
struct BenchTally {
    /// The latencies in microseconds, with three significant digits.
    private(set) var latencies = Histogram<UInt64>(highestTrackableValue: Self.longest)
    private(set) var statuses: [Int: Int] = [:]
    private(set) var errors: [String: Int] = [:]
    private(set) var firstError: AFError?
    /// The number of requests that had no response when the run ended.
    private(set) var unfinished = 0
    /// When the last request ended.
    private(set) var lastEnd: ContinuousClock.Instant?
    private var totalSeconds = 0.0
    private(set) var longestSeconds = 0.0

    /// The longest latency that can be recorded, in microseconds: a week.
    private static let longest: UInt64 = 604_800_000_000

    /// The mean latency in seconds.
    var meanSeconds: Double { latencies.totalCount == 0 ? 0 : totalSeconds / Double(latencies.totalCount) }

    /// Records the end of a request.
    mutating func record(_ outcome: SentRequest, seconds: Double, end: ContinuousClock.Instant) {
        switch outcome {
        case .answered(let status):
            statuses[status, default: 0] += 1
            record(seconds)
        case .failed(let error) where error.isCancellation:
            return record(unfinishedAfter: seconds)
        case .failed(let error):
            errors[error.kind, default: 0] += 1
            firstError = firstError ?? error
            // The response would have taken even longer.
            if error.transportError?.code == .timedOut { record(seconds) }
        }
        lastEnd = max(lastEnd ?? end, end)
    }

    /// Records a request that had no response when the run ended. Its latency is at least the time until then.
    mutating func record(unfinishedAfter seconds: Double) {
        unfinished += 1
        record(seconds)
    }

    /// Records requests that weren't started, although they were due.
    mutating func record(unsent overdue: OverdueRequests?) {
        guard let overdue else { return }
        unfinished += overdue.count
        // Records many requests in steps, because there can be billions.
        let step = max(1, overdue.count / 10_000)
        for first in stride(from: 0, to: overdue.count, by: step) {
            let count = min(step, overdue.count - first)
            record(overdue.longest - (Double(first) + Double(count - 1) / 2) * overdue.interval, count: count)
        }
    }

    private mutating func record(_ seconds: Double, count: Int = 1) {
        let seconds = max(0, seconds)
        latencies.record(min(UInt64(seconds * 1_000_000), Self.longest), count: UInt64(count))
        totalSeconds += seconds * Double(count)
        longestSeconds = max(longestSeconds, seconds)
    }
}

/// The measurements of a complete run.
struct BenchResult {
    let tally: BenchTally
    /// The time from the first request to the last response, in seconds.
    let seconds: Double
    let bytesSent: Int64
    let bytesReceived: Int64

    var responses: Int { tally.statuses.values.reduce(0, +) }
    var failures: Int { tally.errors.values.reduce(0, +) }
    var firstError: AFError? { tally.firstError }

    /// Returns a percentile of the latency, in seconds.
    func percentile(_ percent: Double) -> Double {
        guard tally.latencies.totalCount > 0 else { return 0 }
        return min(Double(tally.latencies.valueAtPercentile(percent)) / 1_000_000, tally.longestSeconds)
    }
}

extension AFError {
    /// The name of the kind of error, for reports.
    var kind: String {
        if let transportError { return transportError.code.description }
        return switch self {
        case .explicitlyCancelled: "cancelled"
        case .invalidURL, .urlRequestValidationFailed: "invalidURL"
        case .serverTrustEvaluationFailed: "certificateUntrusted"
        default: "other"
        }
    }

    /// Whether the request was canceled.
    var isCancellation: Bool { isExplicitlyCancelledError || transportError?.code == .cancelled }
}
