import AfarStages
package import AfarTransport
package import Foundation

/// A transport with stages, for testing stages without a session.
package struct StagedTransport: Transport {
    private let base: any Transport
    private let stages: [any ExchangeStage]

    /// Creates a transport.
    ///
    /// - Parameter stages: The stages, beginning with the outermost one.
    package init(_ base: any Transport, _ stages: any ExchangeStage...) {
        self.base = base
        self.stages = stages
    }

    package var capabilities: TransportCapabilities { base.capabilities }

    package func send(_ exchange: Exchange) async throws -> TransportResponse {
        let driver = HopDriver(Hop(exchange), through: stages, over: ExchangeSender(base)) { head in
            (exchange.headArrived(head), nil)
        }
        return try await withThrowingTaskGroup(of: Void.self) { running in
            defer { running.cancelAll() }
            return try await withTaskCancellationHandler {
                try await driver.response { work in running.addTask(operation: work) }
            } onCancel: {
                driver.cancel()
            }
        }
    }

    package func closeIdleConnections() { base.closeIdleConnections() }
    package var connectionStatistics: ConnectionStatistics? { get async { await base.connectionStatistics } }
}

/// Runs a closure on deallocation, as a value of user code can.
package final class DeinitProbe: Sendable {
    private let look: @Sendable () -> Void
    private let didLook: Deferred<Bool>

    /// Creates a probe.
    ///
    /// - Parameter didLook: Fulfilled with a value that indicates whether the closure returned in time.
    package init(_ didLook: Deferred<Bool>, look: @escaping @Sendable () -> Void) {
        self.look = look
        self.didLook = didLook
    }

    deinit { Self.perform(look, noting: didLook) }

    /// Returns bytes that run a closure when they are deallocated.
    package static func bytes(_ didLook: Deferred<Bool>, look: @escaping @Sendable () -> Void) -> Data {
        let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: 4096, alignment: 1)
        _ = bytes.initializeMemory(as: UInt8.self, repeating: 0)
        nonisolated(unsafe) let owned = bytes
        guard let start = bytes.baseAddress else { return Data() }
        return Data(
            bytesNoCopy: start, count: bytes.count,
            deallocator: .custom { _, _ in
                perform(look, noting: didLook)
                owned.deallocate()
            })
    }

    /// Runs the closure on another thread, so that a held lock fails the test instead of blocking it.
    private static func perform(_ look: @escaping @Sendable () -> Void, noting didLook: Deferred<Bool>) {
        let isDone = DispatchSemaphore(value: 0)
        DispatchQueue(label: "looking back").async {
            look()
            isDone.signal()
        }
        didLook.fulfill(isDone.wait(timeout: .now() + 5) == .success)
    }
}

/// Records events of a test in order.
package final class Log: Sendable {
    private let state = Locked<[String]>([])

    package init() {}

    package var entries: [String] { state.withLock { $0 } }

    package func append(_ entry: String) {
        state.withLock { $0.append(entry) }
    }
}

/// Waits while a condition is true. The processor is idle between the checks, so tests in other processes can run. Use it only for states
/// that no event announces.
///
/// - Throws: `CancellationError` when the test's time limit is exceeded.
package func waitWhile(_ condition: () async throws -> Bool) async throws {
    while try await condition() { try await Task.sleep(for: .milliseconds(1)) }
}
