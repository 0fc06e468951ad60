import AfarCore
import Foundation
import HTTPTypes
import Testing

@testable import AfarCurl

@Suite(.timeLimit(.minutes(1)))
struct BodyPumpTests {
    /// A pump with its readiness notifications.
    private struct Line {
        let pump: BodyPump
        private var calls: AsyncStream<Void>.Iterator

        init(_ chunks: [Data], length: Int64? = nil, failing error: (any Error)? = nil) {
            let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
            calls = stream.makeAsyncIterator()
            pump = BodyPump { continuation.yield() }
            let body = ChunkSource(chunks, failing: error)
            pump.start(RequestBodyStream(length: length, isReplayable: false) { { try body.next() } })
        }

        /// Reads from the pump as the transports do: immediately if bytes are available, and otherwise after the pump's
        /// next notification.
        mutating func read(_ count: Int) async throws -> [UInt8] {
            var bytes = [UInt8](repeating: 0, count: count)
            while true {
                if let taken = try bytes.withUnsafeMutableBytes({ try pump.read(into: $0) }) {
                    return Array(bytes.prefix(taken))
                }
                await calls.next()
            }
        }

        mutating func readAll(_ count: Int) async throws -> [UInt8] {
            var all: [UInt8] = []
            while true {
                let bytes = try await read(count)
                if bytes.isEmpty { return all }
                all += bytes
            }
        }
    }

    @Test(arguments: [1, 2, 3, 100])
    func chunksArriveCompletelyAndInOrder(_ room: Int) async throws {
        var line = Line([Data([1, 2, 3]), Data(), Data([4]), Data([5, 6])])
        #expect(try await line.readAll(room) == [1, 2, 3, 4, 5, 6])
        #expect(try await line.read(room).isEmpty)
    }

    @Test func aBodyWithoutChunksEndsImmediately() async throws {
        var line = Line([])
        #expect(try await line.read(9).isEmpty)
    }

    @Test func anErrorOfTheProducerIsTheCause() async throws {
        var line = Line([Data([1])], failing: Intended())
        #expect(try await line.read(9) == [1])
        let fault = await #expect(throws: Fault.self) { try await line.read(9) }
        #expect(fault?.code == .requestBodyFailed)
        #expect(fault?.underlying is Intended)
    }

    @Test(arguments: [
        [Data([1, 2, 3])], [Data([1, 2]), Data([3])], [Data([1, 2]), Data(), Data([3])],
        [Data([1]), Data([2]), Data([3])],
    ])
    func aBodyLongerThanAnnouncedFails(_ chunks: [Data]) async throws {
        var line = Line(chunks, length: 2)
        let fault = await #expect(throws: Fault.self) { try await line.readAll(9) }
        #expect(fault?.code == .requestBodyFailed)
    }

    @Test func aBodyOfTheAnnouncedLengthSucceeds() async throws {
        var line = Line([Data([1]), Data([2]), Data()], length: 2)
        #expect(try await line.readAll(9) == [1, 2])
    }

    @Test func theNextChunkIsProducedAfterThePreviousOneIsRead() async throws {
        let (made, continuation) = AsyncStream.makeStream(of: Int.self)
        let numbers = ChunkSource((0..<3).map { Data([UInt8($0), 9]) })
        let (calls, ready) = AsyncStream.makeStream(of: Void.self)
        let pump = BodyPump { ready.yield() }
        pump.start(
            RequestBodyStream(isReplayable: false) {
                {
                    let chunk = try numbers.next()
                    continuation.yield(Int(chunk?.first ?? 255))
                    return chunk
                }
            })
        var iterator = made.makeAsyncIterator()
        #expect(await iterator.next() == 0)
        var byte: UInt8 = 0
        func readByte() throws -> Int? { try withUnsafeMutableBytes(of: &byte) { try pump.read(into: $0) } }
        var call = calls.makeAsyncIterator()
        while try readByte() == nil { await call.next() }
        #expect(numbers.left == 2)
        #expect(try readByte() == 1)
        #expect(await iterator.next() == 1)
        #expect(numbers.left == 1)
        pump.cancel()
    }

    @Test func cancellingReleasesTheProducer() async throws {
        let (ended, continuation) = AsyncStream.makeStream(of: Bool.self)
        let hasBegun = Deferred<Void>()
        let pump = BodyPump {}
        pump.start(
            RequestBodyStream(isReplayable: false) {
                {
                    hasBegun.fulfill(())
                    do {
                        try await Task.sleep(for: .seconds(3600))
                    } catch {
                        continuation.yield(Task.isCancelled)
                    }
                    return nil
                }
            })
        await hasBegun.value
        pump.cancel()
        var iterator = ended.makeAsyncIterator()
        #expect(await iterator.next() == true)
    }

    /// Signals when the pump has released the body.
    private final class Witness: Sendable {
        let isGone: Deferred<Void>
        init(_ isGone: Deferred<Void>) { self.isGone = isGone }
        deinit { isGone.fulfill(()) }
    }

    /// The stream ignores the cancellation. With a length, its first chunk is complete.
    @Test(arguments: [nil, 1] as [Int64?]) func aCancelledPumpStopsReadingEmptyChunks(length: Int64?) async {
        let (hasBegun, isGone) = (Deferred<Void>(), Deferred<Void>())
        func start(_ pump: BodyPump) {
            let (witness, count) = (Witness(isGone), Locked(0))
            pump.start(
                RequestBodyStream(length: length, isReplayable: false) {
                    {
                        await Task.yield()
                        return withExtendedLifetime(witness) {
                            let number = count.withLock { count in
                                count += 1
                                return count
                            }
                            if number == 100 { hasBegun.fulfill(()) }
                            return number == 1 && length != nil ? Data([1]) : Data()
                        }
                    }
                })
        }
        let pump = BodyPump {}
        start(pump)
        await hasBegun.value
        pump.cancel()
        await isGone.value
    }

    /// Canceling the task ends an `AsyncStream`.
    @Test func aCancelledPumpDoesNotCallTheTrailers() async {
        let (hasBegun, isGone) = (Deferred<Void>(), Deferred<Void>())
        let areCalled = Locked(false)
        let (chunks, input) = AsyncStream.makeStream(of: Data.self)
        func start(_ pump: BodyPump) {
            let witness = Witness(isGone)
            var stream = RequestBodyStream(isReplayable: false) {
                {
                    hasBegun.fulfill(())
                    return await chunks.first { _ in true }
                }
            }
            stream.trailers = {
                withExtendedLifetime(witness) { areCalled.withLock { $0 = true } }
                return [:]
            }
            pump.start(stream)
        }
        let pump = BodyPump {}
        start(pump)
        await hasBegun.value
        pump.cancel()
        await isGone.value
        #expect(!areCalled.withLock { $0 })
        input.finish()
    }

    @Test func aPumpCancelledBeforeItsStartDoesNotReadTheBody() async {
        let isGone = Deferred<Void>()
        let wasRead = Locked(false)
        func start(_ pump: BodyPump) {
            let witness = Witness(isGone)
            pump.start(
                RequestBodyStream(isReplayable: false) {
                    withExtendedLifetime(witness) { wasRead.withLock { $0 = true } }
                    return { nil }
                })
        }
        let pump = BodyPump {}
        pump.cancel()
        start(pump)
        await isGone.value
        #expect(!wasRead.withLock { $0 })
    }

    @Test func aCancelledPumpRetainsNothing() {
        final class Owner: Sendable {}
        weak var owner: Owner?
        let pump: BodyPump
        do {
            let kept = Owner()
            owner = kept
            pump = BodyPump { withExtendedLifetime(kept) {} }
        }
        #expect(owner != nil)
        pump.cancel()
        #expect(owner == nil)
    }
}
