package import Foundation

extension Duration {
    /// A timeout in seconds, within what a clock can add up: from none at all to some thirty years, which is also what
    /// stands for no number.
    package init(timeout seconds: TimeInterval) {
        self = .seconds(seconds < 1e9 ? max(seconds, 0) : 1e9)
    }

    /// This duration within the same bounds. Beyond them `Task.sleep` traps.
    package var clampedToClock: Duration { min(max(self, .zero), .seconds(1e9)) }
}
