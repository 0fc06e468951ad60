import AfarCore
import AfarTransport
import Foundation
import TestSupport
import Testing

@Suite struct ResponseBodyStreamTests {
    private let demands = Locked(0)
    private let cancels = Locked(0)

    private func make(highWaterMark: Int = 10) -> (stream: ResponseBodyStream, source: ResponseBodyStream.Source) {
        ResponseBodyStream.make(
            highWaterMark: highWaterMark,
            onDemand: { [demands] in demands.withLock { $0 += 1 } },
            onCancel: { [cancels] in cancels.withLock { $0 += 1 } })
    }

    @Test func chunksArriveInOrderBeforeTheEnd() async throws {
        let (stream, source) = make()
        source.yield(Data("ab".utf8))
        source.yield(Data())
        source.yield(Data("c".utf8))
        source.finish(throwing: nil, report: TransportReport())
        var chunks: [String] = []
        for try await chunk in stream { chunks.append(String(decoding: chunk, as: UTF8.self)) }
        #expect(chunks == ["ab", "c"])
    }

    @Test func aBodyThatEndsDuringACopyRequestIsCopied() async throws {
        for round in 0..<20_000 {
            let (stream, source) = make()
            source.yield(Data("body".utf8))
            let copied = Locked<Data?>(nil)
            await withTaskGroup(of: Void.self) { group in
                group.addTask { source.finish(throwing: nil, report: TransportReport()) }
                group.addTask { stream.copy(upTo: 10) { data in copied.withLock { $0 = data } } }
            }
            try #require(copied.withLock { $0 } == Data("body".utf8), "round \(round)")
        }
    }

    @Test func aReaderWaitsForTheNextChunk() async throws {
        let (stream, source) = make()
        async let first: Data? = {
            var iterator = stream.makeAsyncIterator()
            return try await iterator.next()
        }()
        source.yield(Data("late".utf8))
        #expect(try await first == Data("late".utf8))
        source.finish(throwing: nil, report: TransportReport())
    }

    @Test func aFullStreamRequestsMoreWhenHalfIsRead() async throws {
        let (stream, source) = make(highWaterMark: 10)
        source.yield(Data(count: 6))
        #expect(!source.isFull)
        source.yield(Data(count: 6))
        #expect(source.isFull)
        var iterator = stream.makeAsyncIterator()
        _ = try await iterator.next()
        #expect(demands.withLock { $0 } == 0)
        _ = try await iterator.next()
        #expect(demands.withLock { $0 } == 1)
        #expect(!source.isFull)
    }

    @Test func chunksBeforeAFailureAreDelivered() async throws {
        let (stream, source) = make()
        source.yield(Data("x".utf8))
        let failure = TransportError(.bodyIncomplete, phase: .receiving, url: nil, message: "gone")
        source.finish(throwing: failure, report: TransportReport())
        var iterator = stream.makeAsyncIterator()
        #expect(try await iterator.next() == Data("x".utf8))
        let error = await #expect(throws: TransportError.self) { _ = try await iterator.next() }
        #expect(error?.code == .bodyIncomplete)
    }

    @Test func droppingTheStreamCancelsOnce() {
        var (stream, source): (ResponseBodyStream?, ResponseBodyStream.Source) = make()
        #expect(stream != nil)
        stream = nil
        #expect(cancels.withLock { $0 } == 1)
        source.yield(Data("ignored".utf8))
        source.finish(throwing: nil, report: TransportReport())
    }

    @Test func aFinishedStreamIsNotCancelledByDroppingIt() {
        var (stream, source): (ResponseBodyStream?, ResponseBodyStream.Source) = make()
        source.finish(throwing: nil, report: TransportReport())
        #expect(stream != nil)
        stream = nil
        #expect(cancels.withLock { $0 } == 0)
    }

    @Test func cancellingTheReadingTaskEndsTheExchange() async {
        let (stream, source) = make()
        let reader = Task {
            var iterator = stream.makeAsyncIterator()
            return try await iterator.next()
        }
        reader.cancel()
        let result = await reader.result
        #expect((result.error as? TransportError)?.code == .cancelled)
        #expect(cancels.withLock { $0 } == 1)
        source.finish(throwing: nil, report: TransportReport())
    }

    @Test func aSecondReaderFailsAndTheFirstContinues() async throws {
        let (stream, source) = make()
        let results = Locked<[Result<Data?, any Error>]>([])
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<2 {
                group.addTask {
                    var iterator = stream.makeAsyncIterator()
                    do {
                        let chunk = try await iterator.next()
                        results.withLock { $0.append(.success(chunk)) }
                    } catch {
                        results.withLock { $0.append(.failure(error)) }
                        source.yield(Data("x".utf8))
                    }
                }
            }
        }
        let values = results.withLock { $0 }
        #expect(values.filter { ($0.error as? TransportError)?.code == .invalidUse }.count == 1)
        #expect(values.contains { $0.value == Data("x".utf8) })
        source.finish(throwing: nil, report: TransportReport())
    }

    @Test func theReportIsAvailableAfterTheEndEvenIfCancelled() async {
        let (stream, source) = make()
        stream.cancel()
        async let report = stream.report()
        source.finish(
            throwing: TransportError(.cancelled, phase: .receiving, url: nil, message: ""),
            report: TransportReport(transactions: [TransactionMetrics()]))
        #expect(await report.transactions.count == 1)
    }

    /// A canceled reader receives no more chunks, even if all chunks have arrived.
    @Test func aCancelledReaderGetsNoMoreChunks() async throws {
        let (stream, source) = make()
        source.yield(Data("one".utf8))
        source.yield(Data("two".utf8))
        source.finish(throwing: nil, report: TransportReport())
        var iterator = stream.makeAsyncIterator()
        #expect(try await iterator.next() == Data("one".utf8))
        stream.cancel()
        await #expect(throws: TransportError.self) { try await iterator.next() }
    }

    @Test func unreadChunksAreReleasedOutsideTheLock() async {
        let (stream, source) = make()
        let didLook = Deferred<Bool>()
        source.yield(DeinitProbe.bytes(didLook) { _ = source.isFull })
        stream.cancel()
        #expect(await didLook.value)
    }
}
