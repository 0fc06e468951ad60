import Foundation
import Testing

@testable import AfarCore

@Suite struct AnnouncementsTests {
    /// What a stream is told from now on.
    private func elements(of announcements: Announcements<Int>) async -> [Int] {
        let (stream, continuation) = AsyncStream.makeStream(of: Int.self)
        announcements.add(continuation) { $0 }
        return await stream.reduce(into: []) { $0.append($1) }
    }

    @Test func whoComesMeanwhileMissesNothingAndHearsNothingTwice() async {
        for _ in 0..<10 {
            let announcements = Announcements<Int>()
            await withTaskGroup(of: Void.self) { group in
                group.addTask {
                    for number in 1...500 {
                        announcements.announce(number)
                        if number.isMultiple(of: 25) { await Task.yield() }
                    }
                    announcements.finish()
                }
                for delay in 0..<20 {
                    group.addTask {
                        for _ in 0..<delay { await Task.yield() }
                        let elements = await elements(of: announcements)
                        #expect(elements == Array((elements.first ?? 501)...500))
                    }
                }
            }
        }
    }

    @Test func listenersAreToldInTheOrderInWhichTheyCame() {
        let announcements = Announcements<Int>(last: 0)
        let told = Locked<[String]>([])
        for name in ["a", "b", "c", "d"] {
            let remove = announcements.add(
                .init(
                    tell: { number in told.withLock { $0.append("\(name)\(number)") } },
                    finish: { told.withLock { $0.append("\(name) ends") } }))
            if name == "b" { remove() }
        }
        announcements.setHandler(.init(tell: { number in told.withLock { $0.append("handler\(number)") } }))
        announcements.announce(1)
        announcements.finish()
        announcements.announce(2)
        #expect(
            told.withLock { $0 }
                == ["a0", "b0", "c0", "d0", "handler1", "a1", "c1", "d1", "a ends", "c ends", "d ends"])
    }

    @Test func whatIsForgottenIsNotToldAgain() async {
        let announcements = Announcements<Int>(last: 1)
        announcements.forget()
        announcements.finish()
        #expect(announcements.last == nil)
        #expect(await elements(of: announcements).isEmpty)
    }

    @Test func whoIsLetGoMayAskForWhatIsAnnounced() {
        final class Asking: Sendable {
            let announcements: Announcements<Int>
            let answer: Locked<Int?>

            init(_ announcements: Announcements<Int>, _ answer: Locked<Int?>) {
                self.announcements = announcements
                self.answer = answer
            }

            deinit {
                let last = announcements.last
                answer.withLock { $0 = last }
            }
        }
        let announcements = Announcements<Int>(last: 7)
        for isReplaced in [true, false] {
            let answer = Locked<Int?>(nil)
            do {
                let asking = Asking(announcements, answer)
                announcements.setHandler(.init(tell: { _ in _ = asking }))
            }
            #expect(answer.withLock { $0 } == nil)
            if isReplaced { announcements.setHandler(.init(tell: { _ in })) } else { announcements.finish() }
            #expect(answer.withLock { $0 } == 7)
        }
    }

    @Test func theLastOneWhoKnewOfThemEndsThem() async {
        let (stream, continuation) = AsyncStream.makeStream(of: Int.self)
        do {
            let announcements = Announcements<Int>()
            announcements.add(continuation) { $0 }
            announcements.announce(1)
        }
        #expect(await stream.reduce(into: []) { $0.append($1) } == [1])
    }
}
