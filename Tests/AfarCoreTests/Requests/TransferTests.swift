import AfarTesting
import Foundation
import TestSupport
import Testing

@testable import AfarCore

/// The life cycle of transfers, whatever their requests are.
@Suite(.timeLimit(.minutes(1))) struct TransferTests {
    private func session(_ change: (inout SessionConfiguration) -> Void = { _ in }) -> Session {
        var configuration = SessionConfiguration()
        change(&configuration)
        return Session(configuration: configuration, transport: MockTransport { _ in .text("ok") })
    }

    @Test func theOutcomeIsTheSameForAllWaysToReadIt() async throws {
        let transfer = Work(session: session()) { _ in 7 }
        #expect(transfer.transferState == .initialized)
        let results = AsyncStream.makeStream(of: Result<Int, any Error>.self)
        transfer.response(queue: .global()) { results.continuation.yield($0) }
        #expect(try await transfer.value == 7)
        #expect(try await transfer.result.get() == 7)
        for await result in results.stream {
            #expect(try result.get() == 7)
            break
        }
        #expect(transfer.isFinished)
        transfer.cancel().suspend().resume()
        #expect(transfer.isFinished)
        #expect(try await transfer.value == 7)
    }

    @Test func anErrorIsPassedOn() async throws {
        let transfer = Work(session: session()) { _ in throw POSIXError(.EIO) }
        await #expect(throws: POSIXError.self) { try await transfer.value }
    }

    @Test func aHandlerDoesNotStartTheTransferIfTheSessionDoesNotStartRequests() async throws {
        let session = Session(
            startRequestsImmediately: false, transport: MockTransport { _ in .text("ok") })
        let transfer = Work(session: session) { _ in 1 }
        let results = AsyncStream.makeStream(of: Result<Int, any Error>.self)
        transfer.response(queue: .global()) { results.continuation.yield($0) }
        #expect(transfer.transferState == .initialized)
        transfer.resume()
        for await result in results.stream {
            #expect(try result.get() == 1)
            break
        }
    }

    @Test func cancelingTheAwaitingTaskCancelsTheTransfer() async throws {
        let started = AsyncStream.makeStream(of: Void.self)
        let transfer = Work(session: session()) { _ in
            started.continuation.yield()
            try await Task.sleep(for: .seconds(600))
            return 1
        }
        let task = Task { try await transfer.value }
        for await _ in started.stream { break }
        task.cancel()
        let error = await #expect(throws: AFError.self) { try await task.value }
        #expect(error?.isExplicitlyCancelledError == true)
        #expect(transfer.isCancelled)
    }

    /// The first reason is the one that is reported.
    @Test func theTimeLimitEndsTheTransfer() async throws {
        let transfer = Work(session: session { $0.timeoutIntervalForResource = 0.05 }) { _ in
            try await Task.sleep(for: .seconds(600))
            return 1
        }
        let error = await #expect(throws: AFError.self) { try await transfer.value }
        #expect((error?.underlyingError as? URLError)?.code == .timedOut)
        transfer.cancel()
        let later = await #expect(throws: AFError.self) { try await transfer.value }
        #expect(later?.isExplicitlyCancelledError == false)
    }

    @Test func workThatIgnoresCancellationIsAbandoned() async throws {
        let (started, gate) = (AsyncStream.makeStream(of: Void.self), AsyncStream.makeStream(of: Void.self))
        let transfer = Work(session: session()) { transfer in
            try await transfer.untilCancelled {
                started.continuation.yield()
                await Task { for await _ in gate.stream { break } }.value
                return 1
            }
        }
        transfer.resume()
        for await _ in started.stream { break }
        transfer.cancel()
        await #expect(throws: AFError.self) { try await transfer.value }
        gate.continuation.finish()
    }

    @Test func workCanContinueAfterACancellation() async throws {
        let isCancelled = Locked<Bool?>(nil)
        let started = AsyncStream.makeStream(of: Void.self)
        let transfer = Work(session: session()) { transfer in
            started.continuation.yield()
            do {
                try await Task.sleep(for: .seconds(600))
            } catch {
                try await transfer.withoutCancellation { isCancelled.withLock { $0 = Task.isCancelled } }
                throw error
            }
            return 1
        }
        transfer.resume()
        for await _ in started.stream { break }
        transfer.cancel()
        await #expect(throws: AFError.self) { try await transfer.value }
        #expect(isCancelled.withLock { $0 } == false)
    }

    @Test func requestsAreSuspendedTogether() async throws {
        let session = session()
        let transfer = Work(session: session) { _ in 1 }
        transfer.suspend()
        let requests = (0..<3).map { _ in session.request("http://a/", shouldAutomaticallyResume: false) }
        for request in requests { transfer.start(request) }
        #expect(requests.allSatisfy { $0.isSuspended })
        transfer.resume()
        for request in requests {
            let data = try await request.serializingResponse(using: Bytes()).value
            #expect(data == Data("ok".utf8))
        }
    }

    /// Whatever the order of concurrent calls is, a request that was started isn't left suspended.
    @Test func concurrentCallsLeaveNoRequestSuspended() async throws {
        let session = session()
        for _ in 0..<100 {
            let transfer = Work(session: session) { _ in 1 }
            await withTaskGroup(of: Void.self) { group in
                let request = session.request("http://a/", shouldAutomaticallyResume: false)
                group.addTask { transfer.suspend().resume() }
                group.addTask {
                    transfer.start(request)
                    _ = await request.serializingResponse(using: Bytes()).response
                    transfer.finish(request)
                }
            }
            #expect(try await transfer.value == 1)
        }
    }

    @Test func theProgressHasItsLastValueWhenTheTransferEnds() async throws {
        let transfer = Work(session: session()) { transfer in
            transfer.updateProgress { $1 = 1_000 }
            for _ in 0..<1_000 { transfer.updateProgress { completed, _ in completed += 1 } }
            return 1
        }
        let values = Locked<[Int64]>([])
        transfer.progress(queue: DispatchQueue(label: "test")) { progress in
            values.withLock { $0.append(progress.completedUnitCount) }
        }
        _ = try await transfer.value
        #expect(transfer.progress.completedUnitCount == 1_000)
        #expect(transfer.progress.fractionCompleted == 1)
    }
}

/// A transfer that consists of a closure.
private final class Work: Transfer<Int>, @unchecked Sendable {
    // Sendable because the closure is immutable.
    private let body: @Sendable (Work) async throws -> Int

    init(session: Session, _ body: @escaping @Sendable (Work) async throws -> Int) {
        self.body = body
        super.init(session: session)
    }

    override func run() async throws -> Int { try await body(self) }
}
