public import Foundation

/// A limit for the concurrent requests to a host, so that a slow host can't occupy all resources of the client.
///
/// Further requests wait in the order in which they arrive. A canceled request leaves the queue immediately. A request occupies its place
/// until its response is complete or, if the body is streamed, until the response's head has arrived.
public struct Bulkhead: Sendable, Hashable {
    /// The maximum number of concurrent requests to a host, at least 1.
    public var maximumConcurrent: Int
    /// The maximum number of waiting requests for a host. Further requests fail. The default is 100.
    public var maximumWaiting: Int
    /// The maximum time to wait. The default is 5 seconds.
    public var maximumWait: Duration

    /// Creates a limit.
    public init(maximumConcurrent: Int, maximumWaiting: Int = 100, maximumWait: Duration = .seconds(5)) {
        self.maximumConcurrent = maximumConcurrent
        self.maximumWaiting = maximumWaiting
        self.maximumWait = maximumWait
    }
}

/// The error of a request that didn't get a place among the concurrent requests to its host. The request wasn't sent.
///
/// A session reports it as the underlying error of ``AFError/sessionTaskFailed(error:)``.
public struct BulkheadError: Error, Sendable, Hashable {
    /// The reason for the failure.
    public enum Reason: String, Sendable, Hashable {
        /// ``Bulkhead/maximumWaiting`` requests were already waiting.
        case queueFull
        /// The request waited for ``Bulkhead/maximumWait``.
        case waitTimedOut
    }

    /// The host, such as `https://example.com`.
    public let key: String
    /// The reason for the failure.
    public let reason: Reason
}

extension BulkheadError: CustomStringConvertible, LocalizedError {
    /// The error on one line.
    public var description: String {
        let cause =
            switch reason {
            case .queueFull: "the queue of \(key) is full"
            case .waitTimedOut: "it waited too long in the queue of \(key)"
            }
        return "the request was not sent, because \(cause): send fewer requests at once, or raise the bulkhead's limits"
    }

    /// The same text as ``description``.
    public var errorDescription: String? { description }
}

/// The places for concurrent requests to a host, and the queue for them. It performs no I/O and has no clock.
struct WaitingLine<Waiter: Sendable>: Sendable {
    enum Entry: Equatable {
        case admitted
        /// The value identifies the place in the queue.
        case waiting(Int)
        case full
    }

    private(set) var runningCount = 0
    private var waiters: [(place: Int, waiter: Waiter)] = []
    private var lastPlace = 0

    var waitingCount: Int { waiters.count }

    mutating func enter(_ waiter: @autoclosure () -> Waiter, limits: Bulkhead) -> Entry {
        if runningCount < max(1, limits.maximumConcurrent), waiters.isEmpty {
            runningCount += 1
            return .admitted
        }
        guard waiters.count < limits.maximumWaiting else { return .full }
        lastPlace += 1
        waiters.append((lastPlace, waiter()))
        return .waiting(lastPlace)
    }

    /// Removes a waiter. Returns false if it has already been removed.
    mutating func remove(_ place: Int) -> Bool {
        guard let index = waiters.firstIndex(where: { $0.place == place }) else { return false }
        waiters.remove(at: index)
        return true
    }

    /// Ends a running request. Returns the waiter that takes its place, if any.
    mutating func leave() -> Waiter? {
        guard waiters.isEmpty else { return waiters.removeFirst().waiter }
        runningCount -= 1
        return nil
    }
}
