package import Foundation

/// A thread of a transport that drives connections. All methods can be called from any thread.
package protocol TransportLoop: AnyObject, Sendable {
    func closeIdleConnections()

    /// Calls a closure with the connections, on the loop's thread.
    func countConnections(_ answer: @escaping @Sendable ([ConnectionStatistics.Host]) -> Void)

    /// Runs a job on the loop's thread.
    func run(_ job: InlineJob)

    /// Ends the thread when its exchanges have ended. They are canceled.
    func shutDown()
}

/// The loops of a transport, each started with its first exchange. All connections to a host belong to one of them.
///
/// It isn't generic, because it couldn't be specialized for the modules of the transports.
package final class LoopGroup: Sendable {
    private let count: Int
    /// Each is nil until its first exchange.
    private let loops: Locked<[(any TransportLoop)?]>
    private let start: @Sendable () throws -> any TransportLoop

    /// - Parameter count: The number of threads; 1 to 64 of them are used.
    package init(count: Int, start: @escaping @Sendable () throws -> any TransportLoop) {
        (self.count, self.start) = (Self.clamped(count), start)
        loops = Locked(Array(repeating: nil, count: self.count))
    }

    deinit { for loop in running { loop.shutDown() } }

    private static func clamped(_ count: Int) -> Int { min(max(1, count), 64) }

    /// The share of each thread in a limit for all of them, rounded up.
    package static func share(of limit: Int, among count: Int) -> Int { 1 + (max(1, limit) - 1) / clamped(count) }

    private var running: [any TransportLoop] { loops.withLock { $0.compactMap(\.self) } }

    /// The loop of a host.
    ///
    /// - Throws: A ``TransportError`` with the code ``TransportError/Code-swift.struct/outOfResources`` if there is no thread.
    package func loop(forHost host: String, url: @autoclosure () -> String?) throws -> any TransportLoop {
        try loop(at: count == 1 ? 0 : Int(host.hashValue.magnitude % UInt(count)), url: url())
    }

    private func loop(at index: Int, url: @autoclosure () -> String?) throws -> any TransportLoop {
        do {
            return try loops.withLock { loops in
                if let loop = loops[index] { return loop }
                let started = try start()
                loops[index] = started
                return started
            }
        } catch {
            throw TransportError(
                .outOfResources, phase: .queued, url: url(), message: "the transport could not start",
                underlying: error)
        }
    }

    package func closeIdleConnections() { for loop in running { loop.closeIdleConnections() } }

    package var connectionStatistics: ConnectionStatistics {
        get async {
            // A loop that has ended would not answer.
            defer { withExtendedLifetime(self) {} }
            var hosts: [ConnectionStatistics.Host] = []
            for loop in running {
                hosts += await withCheckedContinuation { continuation in
                    loop.countConnections { continuation.resume(returning: $0) }
                }
            }
            return ConnectionStatistics(hosts: hosts)
        }
    }

    /// Runs tasks on the first thread. The executor retains the transport.
    package func taskExecutor(of transport: any Transport) throws -> any TaskExecutor {
        let loop = try loop(at: 0, url: nil)
        return LoopExecutor(of: transport) { loop.run($0) }
    }
}

// MARK: - Tasks on a loop

/// Runs tasks on the thread of a transport's loop.
package final class LoopExecutor: TaskExecutor {
    private let post: @Sendable (InlineJob) -> Void
    /// The loop runs as long as its transport exists.
    private let transport: any Transport

    /// - Parameters:
    ///   - transport: The transport that owns the loop. The executor retains it.
    ///   - post: Passes a job to the loop.
    package init(of transport: any Transport, post: @escaping @Sendable (InlineJob) -> Void) {
        (self.transport, self.post) = (transport, post)
    }

    package func enqueue(_ job: consuming ExecutorJob) { post(InlineJob(UnownedJob(job), of: self)) }
}

// MARK: - Clock

/// Nanoseconds of a clock that never goes back.
package enum MonotonicClock {
    package static var now: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }

    /// The time so many seconds after another; `UInt64.max` from 1e9 seconds (about 30 years) on, and for NaN.
    package static func deadline(after seconds: TimeInterval, from now: UInt64) -> UInt64 {
        guard seconds < 1e9 else { return .max }
        return now + UInt64(max(0, seconds) * 1e9)
    }
}
