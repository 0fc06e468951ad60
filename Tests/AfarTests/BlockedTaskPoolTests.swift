import Afar
import AfarCore
import AfarTestServer
import Foundation
import HTTPTypes
import Testing

/// Requests while all threads of the cooperative pool are blocked. Each test runs in its own process.
@Suite(.timeLimit(.minutes(2))) struct BlockedTaskPoolTests {
    @Test func aDeadlineFires() async {
        await #expect(processExitsWith: .success) {
            let server = try await RawServer.start([.receiveHead])
            let session = Session()
            let error = BlockedTaskPool.result { finish in
                let request = session.request(server.url).options { $0.deadline = 0.2 }
                _ = request.serializingData(automaticallyCancelling: false)
                request.response(queue: DispatchQueue(label: "handler")) { finish($0.error) }
            }
            #expect((error??.underlyingError as? URLError)?.code == .timedOut)
        }
    }

    @Test func aRequestIsCancelled() async {
        await #expect(processExitsWith: .success) {
            let server = try await RawServer.start([.receiveHead])
            let session = Session()
            let request = session.request(server.url)
            let error = BlockedTaskPool.result { finish in
                request.response(queue: DispatchQueue(label: "handler")) { finish($0.error) }
                while server.connectionCount == 0 { usleep(1_000) }
                request.cancel()
            }
            #expect(error??.isExplicitlyCancelledError == true)
        }
    }

    /// A stage that never completes.
    private struct Silent: ExchangeStage, StageRun {
        /// The continuations are retained, because a sanitizer would report them as leaks otherwise.
        private static let waiting = Locked<[UnsafeContinuation<Void, Never>]>([])

        func begin(_ hop: Hop) -> (any StageRun)? { self }

        func before(_ hop: Hop) -> Reply<RequestAction> {
            .wait {
                await withUnsafeContinuation { continuation in Self.waiting.withLock { $0.append(continuation) } }
                return .send
            }
        }
    }

    @Test func theTotalTimeoutEndsAStageThatNeverAnswers() async {
        await #expect(processExitsWith: .success) {
            let session = Session(stages: [Silent()])
            let error = BlockedTaskPool.result { finish in
                session.request("http://127.0.0.1:1/").options { $0.totalTimeout = 0.2 }
                    .response(queue: DispatchQueue(label: "handler")) { finish($0.error) }
            }
            #expect((error??.underlyingError as? URLError)?.code == .timedOut)
        }
    }

    @Test func aRetryFollowsItsDelay() async {
        await #expect(processExitsWith: .success) {
            let session = Session()
            let retrier = Retrier { request, _, _, completion in
                completion(request.retryCount == 0 ? .retryWithDelay(0.1) : .doNotRetry)
            }
            let request = session.request("http://127.0.0.1:1/", interceptor: retrier)
            let error = BlockedTaskPool.result { finish in
                request.response(queue: DispatchQueue(label: "handler")) { finish($0.error) }
            }
            #expect(error != nil && request.retryCount == 1)
        }
    }
}

/// Blocks all threads of the cooperative pool, including the caller's, until there is a value.
private enum BlockedTaskPool {
    /// Returns the value, or `nil` if it doesn't arrive within 20 seconds or the pool wasn't blocked.
    static func result<Value: Sendable>(_ start: (@escaping @Sendable (Value) -> Void) -> Void) -> Value? {
        let (door, entered, isFree) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), Locked(false))
        let count = ProcessInfo.processInfo.activeProcessorCount
        for _ in 0..<(8 * count) { Task.detached { block(door, entered) } }
        for _ in 1..<count { entered.wait() }
        Task.detached { isFree.withLock { $0 = true } }
        let (result, hasCome) = (Locked<Value?>(nil), DispatchSemaphore(value: 0))
        start { value in
            result.withLock { $0 = value }
            hasCome.signal()
        }
        _ = hasCome.wait(timeout: .now() + 20)
        defer { for _ in 0..<(8 * count) { door.signal() } }
        return isFree.withLock { $0 } ? nil : result.withLock { $0 }
    }

    private static func block(_ door: DispatchSemaphore, _ entered: DispatchSemaphore) {
        entered.signal()
        door.wait()
    }
}
