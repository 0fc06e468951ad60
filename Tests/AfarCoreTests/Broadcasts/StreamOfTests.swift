import Foundation
import Testing

@testable import AfarCore

@Suite struct StreamOfTests {
    /// Collects the elements of a stream until it ends.
    private func all(_ stream: StreamOf<Int>) async -> [Int] {
        var elements: [Int] = []
        for await element in stream { elements.append(element) }
        return elements
    }

    @Test func eachIterationIsIndependent() async {
        let begun = Locked(0)
        let stream = StreamOf<Int> { continuation in
            let number = begun.withLock { begun in
                begun += 1
                return begun
            }
            for element in 0..<3 { continuation.yield(number * 10 + element) }
            continuation.finish()
        }
        #expect(begun.withLock { $0 } == 0)
        #expect(await all(stream) == [10, 11, 12])
        #expect(await all(stream) == [20, 21, 22])
    }

    @Test func thePolicyDeterminesWhatIsBuffered() async {
        let builder: @Sendable (StreamOf<Int>.Continuation) -> Void = { continuation in
            for element in 0..<5 { continuation.yield(element) }
            continuation.finish()
        }
        #expect(await all(StreamOf(bufferingPolicy: .bufferingNewest(2), builder: builder)) == [3, 4])
        #expect(await all(StreamOf(bufferingPolicy: .bufferingOldest(2), builder: builder)) == [0, 1])
    }

    @Test func releasingTheIteratorEndsTheIteration() async {
        let left = Locked(0)
        let kept = Locked<StreamOf<Int>.Continuation?>(nil)
        let stream = StreamOf<Int> {
            left.withLock { $0 += 1 }
        } builder: { continuation in
            kept.withLock { $0 = continuation }
            continuation.yield(1)
        }
        for await element in stream {
            #expect(element == 1)
            #expect(left.withLock { $0 } == 0)
            break
        }
        #expect(left.withLock { $0 } == 1)
        guard case .terminated = kept.withLock({ $0 })?.yield(2) else {
            Issue.record("the stream continues without a reader")
            return
        }
    }

    @Test func cancellingTheTaskEndsTheIteration() async {
        let left = Locked(0)
        let begun = Deferred<Void>()
        let stream = StreamOf<Int> {
            left.withLock { $0 += 1 }
        } builder: { continuation in
            continuation.yield(1)
        }
        let task = Task {
            var elements: [Int] = []
            for await element in stream {
                elements.append(element)
                begun.fulfill(())
            }
            return elements
        }
        await begun.value
        task.cancel()
        #expect(await task.value == [1])
        #expect(left.withLock { $0 } == 1)
    }

    @Test func readingToTheEndIsNotATermination() async {
        let left = Locked(0)
        let stream = StreamOf<Int> {
            left.withLock { $0 += 1 }
        } builder: { continuation in
            continuation.yield(1)
            continuation.finish()
        }
        #expect(await all(stream) == [1])
        #expect(left.withLock { $0 } == 0)
    }

    @Test func anActorCanIterate() async {
        actor Reader {
            private var sum = 0

            func read(_ stream: StreamOf<Int>) async -> Int {
                for await element in stream { sum += element }
                return sum
            }
        }
        let stream = StreamOf<Int> { continuation in
            for element in 1...4 { continuation.yield(element) }
            continuation.finish()
        }
        #expect(await Reader().read(stream) == 10)
    }
}
