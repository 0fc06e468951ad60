import Afar
import Foundation

/// How far a transfer is, as one line for a terminal.
struct ProgressBar {
    let style: Style
    let isUTF8: Bool

    /// What there is to tell.
    struct State: Equatable {
        var completed: Int64 = 0
        /// How many of these were there before.
        var before: Int64 = 0
        /// Nil when nobody has said it.
        var total: Int64?
        /// Bytes a second.
        var rate: Double?
        /// Seconds until the end; nil when unknown.
        var remaining: Double?
        /// Seconds since the beginning.
        var elapsed = 0.0
        var isFinished = false

        var fraction: Double? {
            if isFinished { return 1 }
            guard let total, total > 0 else { return nil }
            return min(1, max(0, Double(completed) / Double(total)))
        }
    }

    /// The line, exactly so many characters wide without its colours; what does not fit is left out.
    func line(_ state: State, width: Int) -> String {
        var parts = [Self.aligned(Quantity.bytes(state.completed), 9)]
        if let fraction = state.fraction {
            // 100 % is said when all is there.
            let percent = state.isFinished ? 100 : min(99, Int(fraction * 100))
            parts[0] = Self.aligned("\(percent)%", 4) + parts[0]
        }
        parts.append(Self.aligned(rate(state), 9))
        parts.append(Self.time(state))
        while parts.count > 1, parts.joined(separator: "  ").count > width { parts.removeLast() }
        let text = String(parts.joined(separator: "  ").prefix(max(0, width)))
        let room = width - text.count - 2
        guard let fraction = state.fraction, room >= 10 else {
            return text + String(repeating: " ", count: max(0, width - text.count))
        }
        return bar(fraction, width: room) + "  " + text
    }

    private func bar(_ fraction: Double, width: Int) -> String {
        let inside = width - 2
        let length = fraction * Double(inside)
        let (start, bar, end) =
            isUTF8
            ? ("▕", BlockBar.text(length), "▏")
            : ("[", String(repeating: "=", count: Int(length)) + (Int(length) < inside ? ">" : ""), "]")
        let space = String(repeating: " ", count: max(0, inside - bar.count))
        return style.paint(start, .dim) + style.paint(bar, .green) + space + style.paint(end, .dim)
    }

    private func rate(_ state: State) -> String {
        let isFinished = state.isFinished && state.elapsed > 0
        let rate = isFinished ? Double(state.completed - state.before) / state.elapsed : state.rate
        return rate.flatMap { $0 < 1e18 ? Quantity.bytes(Int64($0)) + "/s" : nil } ?? ""
    }

    private static func time(_ state: State) -> String {
        let text =
            if state.isFinished {
                "in \(clock(state.elapsed))"
            } else if state.total == nil {
                clock(state.elapsed)
            } else {
                "ETA \(state.remaining.map(clock) ?? "--:--")"
            }
        return aligned(text, 10)
    }

    /// "0:07", "12:34", "1:23:45"; "--:--" beyond 99 hours.
    private static func clock(_ seconds: Double) -> String {
        guard seconds >= 0, seconds < 360_000 else { return "--:--" }
        let seconds = Int(seconds.rounded())
        let minutes = seconds / 60
        return minutes < 60
            ? String(format: "%d:%02d", minutes, seconds % 60)
            : String(format: "%d:%02d:%02d", minutes / 60, minutes % 60, seconds % 60)
    }

    private static func aligned(_ text: String, _ width: Int) -> String {
        String(repeating: " ", count: max(0, width - text.count)) + text
    }
}
