import Foundation
import Testing

@testable import AfarCore

@Suite struct BroadcastTests {
    /// Returns the elements that a new stream receives until it ends.
    private func elements(of broadcast: Broadcast<Int>) async -> [Int] {
        let (stream, continuation) = AsyncStream.makeStream(of: Int.self)
        broadcast.add(continuation) { $0 }
        return await stream.reduce(into: []) { $0.append($1) }
    }

    @Test func concurrentListenersReceiveEveryElementOnce() async {
        for _ in 0..<10 {
            let broadcast = Broadcast<Int>()
            await withTaskGroup(of: Void.self) { group in
                group.addTask {
                    for number in 1...500 {
                        broadcast.send(number)
                        if number.isMultiple(of: 25) { await Task.yield() }
                    }
                    broadcast.finish()
                }
                for delay in 0..<20 {
                    group.addTask {
                        for _ in 0..<delay { await Task.yield() }
                        let elements = await elements(of: broadcast)
                        #expect(elements == Array((elements.first ?? 501)...500))
                    }
                }
            }
        }
    }

    @Test func listenersAreNotifiedInOrderOfRegistration() {
        let broadcast = Broadcast<Int>(last: 0)
        let reported = Locked<[String]>([])
        for name in ["a", "b", "c", "d"] {
            let remove = broadcast.add(
                .init(
                    receive: { number in reported.withLock { $0.append("\(name)\(number)") } },
                    finish: { reported.withLock { $0.append("\(name) ends") } }))
            if name == "b" { remove() }
        }
        broadcast.send(1)
        broadcast.finish()
        broadcast.send(2)
        #expect(
            reported.withLock { $0 }
                == ["a0", "b0", "c0", "d0", "a1", "c1", "d1", "a ends", "c ends", "d ends"])
    }

    @Test func aForgottenElementIsNotRepeated() async {
        let broadcast = Broadcast<Int>(last: 1)
        broadcast.discardLast()
        broadcast.finish()
        #expect(broadcast.last == nil)
        #expect(await elements(of: broadcast).isEmpty)
    }

    @Test func aReleasedListenerCanAccessTheBroadcast() {
        final class ReleaseProbe: Sendable {
            let broadcast: Broadcast<Int>
            let answer: Locked<Int?>

            init(_ broadcast: Broadcast<Int>, _ answer: Locked<Int?>) {
                self.broadcast = broadcast
                self.answer = answer
            }

            deinit {
                let last = broadcast.last
                answer.withLock { $0 = last }
            }
        }
        let broadcast = Broadcast<Int>(last: 7)
        let queue = DispatchQueue(label: "broadcast")
        for isReplaced in [true, false] {
            let answer = Locked<Int?>(nil)
            do {
                let probe = ReleaseProbe(broadcast, answer)
                broadcast.setHandler(on: queue) { _ in _ = probe }
            }
            queue.sync {}
            #expect(answer.withLock { $0 } == nil)
            if isReplaced { broadcast.setHandler(on: queue) { _ in } } else { broadcast.finish() }
            #expect(answer.withLock { $0 } == 7)
        }
    }
}
