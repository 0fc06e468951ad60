import AfarCore
import AfarNetworkActivity
import Foundation

/// Shows on the terminal that a request is under way, when it takes long.
final class Spinner: Sendable {
    private struct State {
        var isVisible = false
        var isOver = false
        var frame = 0
    }

    private let frames: [String]
    private let text: String
    private let manager = NetworkActivityIndicatorManager(queue: DispatchQueue(label: "afar.spinner"))
    private let state = Locked(State())

    /// Nil where it would be in the way: when the standard error stream is no terminal, or others write to it meanwhile.
    convenience init?(waitingFor host: String, isVerbose: Bool) {
        let output = OutputFacts.standardError
        let others = isVerbose || ProcessInfo.processInfo.environment["AFAR_LOG"] != nil
        guard output.isTerminal, !others else { return nil }
        self.init(waitingFor: host, isUTF8: output.isUTF8, columns: output.columns)
    }

    init(waitingFor host: String, isUTF8: Bool, columns: Int) {
        frames = (isUTF8 ? "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏" : "|/-\\").map { String($0) }
        // The last column stays free: some terminals begin a new line there.
        text = String("  Waiting for \(TerminalText.line(host))".prefix(max(0, columns - 1)))
        manager.isEnabled = true
        Task { [weak self, changes = manager.visibility()] in
            for await isVisible in changes { self?.show(isVisible) }
        }
        Task { [weak self] in
            while self?.turn() == true { try await Task.sleep(for: .milliseconds(100)) }
        }
    }

    /// Ends without a trace, at once.
    func stop() {
        state.withLock { state in
            erase(&state)
            state.isOver = true
        }
        manager.isEnabled = false
    }

    private func show(_ isVisible: Bool) {
        state.withLock { state in
            if isVisible { state.isVisible = !state.isOver } else { erase(&state) }
        }
    }

    /// Draws the next frame. Returns whether there may be more.
    private func turn() -> Bool {
        state.withLock { state in
            guard state.isVisible, !state.isOver else { return !state.isOver }
            StandardError.write("\r" + line(state.frame))
            state.frame = (state.frame + 1) % frames.count
            return true
        }
    }

    private func line(_ frame: Int) -> String { frames[frame] + text.dropFirst() }

    private func erase(_ state: inout State) {
        guard state.isVisible else { return }
        state.isVisible = false
        StandardError.write("\r" + String(repeating: " ", count: text.count) + "\r")
    }
}
