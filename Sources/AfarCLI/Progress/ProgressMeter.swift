import AfarCore
import Foundation

/// Keeps a line on the terminal up to date with a transfer.
final class ProgressMeter: Sendable {
    private struct State {
        var shown = ProgressBar.State()
        var rate = RateEstimate()
        var isDrawn = false
        var isOver = false
    }

    private let bar: ProgressBar
    private let start = ContinuousClock.now
    private let state = Locked(State())

    init(bar: ProgressBar) {
        self.bar = bar
        Task { [weak self] in
            while let self, !isOver {
                try await Task.sleep(for: .milliseconds(100))
                draw()
            }
        }
    }

    private var isOver: Bool { state.withLock { $0.isOver } }

    /// Notes that so many bytes are there before the first one arrives.
    func begin(at bytes: Int64) {
        state.withLock { state in
            (state.shown.completed, state.shown.before) = (bytes, bytes)
            state.rate = RateEstimate(bytes: bytes)
        }
    }

    func update(_ progress: Progress) {
        state.withLock { state in
            state.shown.completed = progress.completedUnitCount
            state.shown.total = progress.totalUnitCount > 0 ? progress.totalUnitCount : nil
        }
    }

    /// Writes text as if the line were not there.
    func write(_ text: String) {
        state.withLock { state in
            Self.erase(&state)
            StandardError.write(text)
        }
    }

    /// Ends with a line that stays, for a transfer of so many bytes.
    func finish(bytes: Int64) {
        state.withLock { state in
            (state.shown.completed, state.shown.isFinished) = (bytes, true)
            draw(&state)
            StandardError.write("\n")
            state.isOver = true
        }
    }

    /// Ends without a trace.
    func abandon() {
        state.withLock { state in
            Self.erase(&state)
            state.isOver = true
        }
    }

    private func draw() { state.withLock { draw(&$0) } }

    private func draw(_ state: inout State) {
        guard !state.isOver else { return }
        state.shown.elapsed = (ContinuousClock.now - start) / .seconds(1)
        state.rate.update(bytes: state.shown.completed, at: state.shown.elapsed)
        state.shown.rate = state.rate.value
        state.shown.remaining = state.shown.total.flatMap { state.rate.seconds(for: $0 - state.shown.completed) }
        StandardError.write("\r" + bar.line(state.shown, width: Self.width))
        state.isDrawn = true
    }

    private static func erase(_ state: inout State) {
        guard state.isDrawn else { return }
        StandardError.write("\r" + String(repeating: " ", count: width) + "\r")
        state.isDrawn = false
    }

    /// The last column stays free: some terminals begin a new line there.
    private static var width: Int { max(1, OutputFacts.standardError.columns - 1) }
}

extension ProgressMeter? {
    /// Writes text to the standard error stream, as if the meter's line were not there, if there is one.
    func write(_ text: String) {
        if let self { self.write(text) } else { StandardError.write(text) }
    }
}
