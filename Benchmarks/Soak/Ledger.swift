import Afar
import Foundation

/// What became of a trial's requests: how often each was completed, and with what.
final class Ledger: Sendable {
    /// The two ways in which every request tells that it is over.
    enum Way: Int, CaseIterable {
        case handler, awaited
    }

    /// What a completion says.
    enum Outcome: Sendable {
        case expected(String)
        case unexpected(String)
    }

    private struct Pages {
        /// For each way, how often each request was completed. It takes as much memory at the end as at the beginning.
        var completions: [[UInt8]]
        var total = 0
        var expected: [String: Int] = [:]
        var unexpected: [String: Int] = [:]
    }

    /// Where the handlers are called.
    let queue = DispatchQueue(label: "soak.handlers")
    let requests: Int
    private let pages: Guarded<Pages>

    init(requests: Int) {
        self.requests = requests
        let none = [UInt8](repeating: 0, count: requests)
        pages = Guarded(Pages(completions: Way.allCases.map { _ in none }))
    }

    func note(_ way: Way, of request: Int, _ outcome: Outcome) {
        pages.withLock { pages in
            let count = pages.completions[way.rawValue][request]
            pages.completions[way.rawValue][request] = count == .max ? count : count + 1
            pages.total += 1
            switch outcome {
            case .expected(let name): pages.expected[name, default: 0] += 1
            case .unexpected(let name):
                // Messages may differ in a port or a time, and a few are enough.
                guard pages.unexpected[name] != nil || pages.unexpected.count < 20 else { return }
                pages.unexpected[name, default: 0] += 1
            }
        }
    }

    /// Returns when the handlers that are under way have been called.
    func settle() async {
        await withCheckedContinuation { continuation in queue.async { continuation.resume() } }
    }

    // MARK: Reading it

    var total: Int { pages.withLock { $0.total } }

    /// The completions as expected, of both ways together.
    var expected: [String: Int] { pages.withLock { $0.expected } }

    /// What came otherwise, and how often.
    var unexpected: [String: Int] { pages.withLock { $0.unexpected } }

    /// How many of the first requests were completed otherwise than once, with an example.
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

/// State behind a lock that the thread sanitizer understands, as it does not understand `Mutex` on Linux.
private final class Guarded<State>: @unchecked Sendable {
    // Sendable because the state is only reachable through the lock.
    private let lock = NSLock()
    private var state: State

    init(_ state: sending State) { self.state = state }

    func withLock<Result>(_ body: (inout State) -> Result) -> Result {
        lock.withLock { body(&state) }
    }
}
