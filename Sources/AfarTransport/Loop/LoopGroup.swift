package import Foundation

/// A message for a loop. Any thread can post it.
package enum LoopRequest: Sendable {
    case closeIdleConnections
    /// Counts the connections to each host, and calls a closure with the result on the loop's thread.
    case countConnections(@Sendable ([ConnectionStatistics.Host]) -> Void)
    case run(InlineJob)
    /// Cancels the loop's exchanges. The thread ends when all exchanges have ended.
    case shutDown
}

/// A transport's thread, which performs the I/O of connections.
package protocol TransportLoop: AnyObject, Sendable {
    /// Posts a request. Can be called from any thread.
    func post(_ request: LoopRequest)
}

/// The loops of a transport. A loop starts with its first exchange. All connections to a host belong to the same loop.
///
/// This class isn't generic, because the modules of the transports couldn't specialize it.
package final class LoopGroup: Sendable {
    private let count: Int
    /// The loops; nil for a loop that hasn't had an exchange.
    private let loops: Locked<[(any TransportLoop)?]>
    private let start: @Sendable () throws -> any TransportLoop

    /// Creates a group whose threads haven't been started.
    ///
    /// - Parameters:
    ///   - count: The number of threads. It is limited to the range from 1 to 64.
    ///   - start: Starts a loop.
    package init(count: Int, start: @escaping @Sendable () throws -> any TransportLoop) {
        (self.count, self.start) = (Self.clamped(count), start)
        loops = Locked(Array(repeating: nil, count: self.count))
    }

    deinit { for loop in running { loop.post(.shutDown) } }

    private static func clamped(_ count: Int) -> Int { min(max(1, count), 64) }

    /// Returns each thread's share of a common limit, rounded up.
    package static func share(of limit: Int, among count: Int) -> Int { 1 + (max(1, limit) - 1) / clamped(count) }

    private var running: [any TransportLoop] { loops.withLock { $0.compactMap(\.self) } }

    /// Returns the loop for a host, and starts it if necessary.
    ///
    /// - Throws: A ``TransportError`` with the code ``TransportError/Code-swift.struct/outOfResources`` if the loop can't be started.
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

    package func closeIdleConnections() { for loop in running { loop.post(.closeIdleConnections) } }

    package var connectionStatistics: ConnectionStatistics {
        get async {
            // Keep the loops alive: a loop that has ended doesn't answer.
            defer { withExtendedLifetime(self) {} }
            var hosts: [ConnectionStatistics.Host] = []
            for loop in running {
                hosts += await withCheckedContinuation { continuation in
                    loop.post(.countConnections { continuation.resume(returning: $0) })
                }
            }
            return ConnectionStatistics(hosts: hosts)
        }
    }

    /// Returns an executor that runs tasks on the first loop's thread. The executor retains the transport.
    package func taskExecutor(of transport: any Transport) throws -> any TaskExecutor {
        let loop = try loop(at: 0, url: nil)
        return LoopExecutor(of: transport) { loop.post(.run($0)) }
    }
}

/// Runs tasks on the thread of a transport's loop.
package final class LoopExecutor: TaskExecutor {
    private let post: @Sendable (InlineJob) -> Void
    /// Retained, because the loop ends with its transport.
    private let transport: any Transport

    /// - Parameters:
    ///   - transport: The transport that owns the loop. The executor retains it.
    ///   - post: Passes a job to the loop.
    package init(of transport: any Transport, post: @escaping @Sendable (InlineJob) -> Void) {
        (self.transport, self.post) = (transport, post)
    }

    package func enqueue(_ job: consuming ExecutorJob) { post(InlineJob(UnownedJob(job), of: self)) }
}

package enum MonotonicClock {
    package static var now: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }

    /// Returns `now` plus a number of seconds. Returns `UInt64.max` if the number is NaN or at least 1e9 (about 30 years).
    package static func deadline(after seconds: TimeInterval, from now: UInt64) -> UInt64 {
        guard seconds < 1e9 else { return .max }
        return now + UInt64(max(0, seconds) * 1e9)
    }
}
