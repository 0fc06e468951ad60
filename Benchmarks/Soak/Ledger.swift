import Afar
import Foundation

/// The outcomes of a trial's requests, and how often each request completed.
final class Ledger: Sendable {
    /// The two ways in which each request reports its completion.
    enum Way: Int, CaseIterable {
        case handler, awaited
    }

    /// The classification of a completion.
    enum Outcome: Sendable {
        case expected(String)
        case unexpected(String)
    }

    private struct Pages {
        /// The number of completions per way and request. The memory is allocated at the beginning, so that it doesn't
        /// grow during the trial.
        var completions: [[UInt8]]
        var total = 0
        var expected: [String: Int] = [:]
        var unexpected: [String: Int] = [:]
    }

    /// The queue for the completion handlers.
    let queue = DispatchQueue(label: "soak.handlers")
    let requests: Int
    private let pages: Locked<Pages>

    init(requests: Int) {
        self.requests = requests
        let none = [UInt8](repeating: 0, count: requests)
        pages = Locked(Pages(completions: Way.allCases.map { _ in none }))
    }

    func note(_ way: Way, of request: Int, _ outcome: Outcome) {
        pages.withLock { pages in
            let count = pages.completions[way.rawValue][request]
            pages.completions[way.rawValue][request] = count == .max ? count : count + 1
            pages.total += 1
            switch outcome {
            case .expected(let name): pages.expected[name, default: 0] += 1
            case .unexpected(let name):
                // Messages can contain ports and times, so at most 20 are counted.
                guard pages.unexpected[name] != nil || pages.unexpected.count < 20 else { return }
                pages.unexpected[name, default: 0] += 1
            }
        }
    }

    /// Returns when all handlers enqueued so far have been called.
    func settle() async {
        await withCheckedContinuation { continuation in queue.async { continuation.resume() } }
    }

    var total: Int { pages.withLock { $0.total } }

    /// The number of expected completions per outcome, as the sum over both ways.
    var expected: [String: Int] { pages.withLock { $0.expected } }

    /// The number of unexpected completions per outcome.
    var unexpected: [String: Int] { pages.withLock { $0.unexpected } }

    /// Returns the number of completions that are missing or repeated among the first requests, with an example.
    func irregular(among requests: Int) -> (count: Int, example: String)? {
        pages.withLock { pages in
            var count = 0
            var example = ""
            for way in Way.allCases {
                for (request, completions) in pages.completions[way.rawValue].prefix(requests).enumerated()
                where completions != 1 {
                    count += 1
                    example = "request \(request), \(way): \(completions) times"
                }
            }
            return count == 0 ? nil : (count, example)
        }
    }
}
