import Afar
import AfarCore
import Foundation
import Synchronization

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Sends requests from several tasks and measures them.
struct LoadGenerator: Sendable {
    /// How long to wait for responses after the time limit.
    static let patience = Duration.seconds(5)
    /// The pause of a task after a failed request, so that a refused connection doesn't cause a busy loop.
    static let pauseAfterError = Duration.milliseconds(10)

    let load: LoadOptions
    let session: Session
    let urlRequest: URLRequest
    let traffic: Traffic

    /// Sends a request on each connection if the method is safe. Waits for the responses no longer than ``patience``.
    private func openConnections() async {
        guard ["GET", "HEAD", "OPTIONS"].contains(urlRequest.httpMethod) else { return }
        await withTaskGroup { group in
            group.addTask {
                await withTaskGroup { group in
                    for _ in 0..<load.concurrency { group.addTask { _ = await send() } }
                }
            }
            group.addTask { try? await Task.sleep(for: Self.patience) }
            await group.next()
            group.cancelAll()
        }
    }

    /// Opens the connections, sends the requests and returns the measurements. If the task is canceled, returns the measurements
    /// so far.
    func run() async -> BenchResult {
        await openConnections()
        traffic.reset()
        let schedule = LoadSchedule(load: load, start: .now)
        let tally = Locked(BenchTally())
        await withTaskGroup { group in
            let workers = group.addTaskUnlessCancelled {
                await withTaskGroup { group in
                    for _ in 0..<load.concurrency { group.addTask { await work(schedule, tally) } }
                }
            }
            guard workers else { return }
            if let deadline = schedule.deadline {
                // Limits the time that workers wait for responses after the deadline.
                group.addTask { try? await Task.sleep(until: deadline + Self.patience, clock: .continuous) }
            }
            await group.next()
            group.cancelAll()
        }
        let end = ContinuousClock.now
        return tally.withLock { tally in
            tally.record(unsent: schedule.overdue(at: end))
            return BenchResult(
                tally: tally, seconds: (tally.lastEnd ?? end).seconds(since: schedule.start), bytesSent: traffic.sent,
                bytesReceived: traffic.received)
        }
    }

    private func work(_ schedule: LoadSchedule, _ tally: Locked<BenchTally>) async {
        while !Task.isCancelled, let due = schedule.next() {
            // Even a sleep until a time in the past suspends the task for a while.
            if let due, due > .now { try? await Task.sleep(until: due, tolerance: .zero, clock: .continuous) }
            let sent = ContinuousClock.now
            guard !Task.isCancelled, schedule.isOpen(at: sent) else {
                if let due, due < sent { tally.withLock { $0.record(unfinishedAfter: sent.seconds(since: due)) } }
                return
            }
            let outcome = await send()
            let end = ContinuousClock.now
            tally.withLock { $0.record(outcome, seconds: end.seconds(since: due ?? sent), end: end) }
            if outcome.error != nil { try? await Task.sleep(for: Self.pauseAfterError) }
        }
    }

    private func send() async -> BenchOutcome {
        let request = session.request(urlRequest)
        let response = await request.serializingData(emptyResponseCodes: Self.anyStatus).response
        if let error = response.error { return .failed(error) }
        return .answered(status: request.responseHead?.status ?? 0)
    }

    private static let anyStatus = Set(100...999)
}

/// The outcome of one request.
enum BenchOutcome: Sendable {
    case answered(status: Int)
    case failed(AFError)

    var error: AFError? {
        guard case .failed(let error) = self else { return nil }
        return error
    }
}

/// The times at which the requests of a run are due.
final class LoadSchedule: Sendable {
    let start: ContinuousClock.Instant
    /// The time after which no request is started; nil if the number of requests is limited instead.
    let deadline: ContinuousClock.Instant?
    private let limit: Int
    private let rate: Double?
    private let taken = Atomic(0)

    init(load: LoadOptions, start: ContinuousClock.Instant) {
        self.start = start
        deadline = load.timeLimit.map { start + $0 }
        limit = load.requests ?? .max
        rate = load.rate
    }

    /// Takes the next request and returns the time at which it is due. The inner value is nil if the request can be sent
    /// immediately. The outer value is nil at the end of the run.
    func next() -> ContinuousClock.Instant?? {
        let index = taken.wrappingAdd(1, ordering: .relaxed).oldValue
        guard index < limit else { return nil }
        guard let rate else { return .some(nil) }
        let due = start + .seconds(Double(index) / rate)
        if let deadline, due >= deadline { return nil }
        return due
    }

    /// Whether a request can be started at this time.
    func isOpen(at time: ContinuousClock.Instant) -> Bool { deadline.map { time < $0 } ?? true }

    /// Returns the requests that were due but weren't taken.
    func overdue(at end: ContinuousClock.Instant) -> OverdueRequests? {
        guard let rate else { return nil }
        let last = min(end, deadline ?? end)
        let due = min(limit, Int((last.seconds(since: start) * rate).rounded(.up)))
        let first = taken.load(ordering: .relaxed)
        guard first < due else { return nil }
        return OverdueRequests(
            count: due - first, longest: end.seconds(since: start) - Double(first) / rate, interval: 1 / rate)
    }
}

/// Requests that a run with `--rate` didn't start, although they were due.
struct OverdueRequests: Equatable {
    var count: Int
    /// How late the first one is, in seconds.
    var longest: Double
    /// The time between two requests, in seconds.
    var interval: Double
}

extension ContinuousClock.Instant {
    func seconds(since start: Self) -> Double { start.duration(to: self) / .seconds(1) }
}

// MARK: - Traffic

/// The bytes of a run in both directions.
final class Traffic: Sendable {
    private let sentBytes = Atomic<Int64>(0)
    private let receivedBytes = Atomic<Int64>(0)

    var sent: Int64 { sentBytes.load(ordering: .relaxed) }
    var received: Int64 { receivedBytes.load(ordering: .relaxed) }

    func reset() {
        sentBytes.store(0, ordering: .relaxed)
        receivedBytes.store(0, ordering: .relaxed)
    }

    func add(_ report: TransportReport) {
        for transaction in report.transactions {
            sentBytes.wrappingAdd(
                transaction.countOfRequestHeaderBytesSent + transaction.countOfRequestBodyBytesSent, ordering: .relaxed)
            receivedBytes.wrappingAdd(
                transaction.countOfResponseHeaderBytesReceived + transaction.transferredBodyBytes, ordering: .relaxed)
        }
    }
}

/// Counts the bytes of every exchange of a transport.
struct CountingTransport: Transport {
    let base: any Transport
    let traffic: Traffic

    var capabilities: TransportCapabilities { base.capabilities }

    func send(_ exchange: Exchange) async throws -> TransportResponse {
        do {
            let response = try await base.send(exchange)
            traffic.add(response.report)
            return response
        } catch let error as TransportError {
            traffic.add(error.report)
            throw error
        }
    }

    func closeIdleConnections() { base.closeIdleConnections() }
}
