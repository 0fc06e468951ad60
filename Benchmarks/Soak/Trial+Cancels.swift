import Afar
import Foundation

extension Trial {
    /// Requests that are canceled at random moments.
    static func cancels(_ stage: Stage, requests: Int, seed: UInt64) -> Trial {
        Trial(title: "Cancelled requests", requests: requests, warmUp: requests / 2) { number, ledger in
            var dice = Dice(seed: seed, request: number)
            let moment = Moment.allCases.randomElement(using: &dice) ?? .beforeTheStart
            let byTask = Bool.random(using: &dice)
            let pause = UInt64.random(in: moment.nanoseconds, using: &dice)
            let url = moment == .duringTheBody ? stage.scripts.url(.drips) : stage.url("/record")
            let request = stage.session.request(url)
            let waiting = Task {
                while moment == .beforeTheStart, !(byTask ? Task.isCancelled : request.isCancelled) {
                    await Task.yield()
                }
                await request.observe(as: number, in: ledger) { (result: AFResult<Record>) in
                    switch result {
                    // The handler starts the request before the canceled task awaits it.
                    case .success where moment != .beforeTheStart || byTask: .expected("too late, \(moment)")
                    case .success: .unexpected("succeeded although cancelled \(moment)")
                    case .failure(.explicitlyCancelled): .expected("cancelled \(moment)")
                    case .failure(let error): .unexpected("cancelled \(moment): \(error.localizedDescription)")
                    }
                }
            }
            if pause > 0 { try? await Task.sleep(nanoseconds: pause) }
            if byTask { waiting.cancel() } else { request.cancel() }
            await waiting.value
        }
    }
}

/// The moment at which a request is canceled.
private enum Moment: CaseIterable {
    case beforeTheStart
    case justAfterTheStart
    case beforeTheAnswer
    case duringTheBody

    /// The range of delays after the start.
    var nanoseconds: ClosedRange<UInt64> {
        switch self {
        case .beforeTheStart, .justAfterTheStart: 0...0
        case .beforeTheAnswer: 0...3_000_000
        case .duringTheBody: 0...Script.dripNanoseconds * 5 / 4
        }
    }
}
