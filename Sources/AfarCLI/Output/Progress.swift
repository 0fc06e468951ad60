import Afar
import AfarCore
import AfarNetworkActivity
import ArgumentParser
import Foundation

/// The options for a transfer's progress.
struct ProgressOptions: ParsableArguments {
    @Flag(
        inversion: .prefixedNo,
        help: "Show progress on the standard error stream. (default: only on a terminal)")
    var progress: Bool?

    /// Returns the progress meter, or nil if progress isn't shown.
    func makeMeter(_ colors: ColorOptions, _ messages: MessageOptions) -> ProgressMeter? {
        let output = OutputFacts.standardError
        guard progress ?? output.isTerminal, !messages.silent else { return nil }
        return ProgressMeter(bar: ProgressBar(style: colors.style(for: output), isUTF8: output.isUTF8))
    }
}

/// Updates a terminal line with the progress of a transfer.
final class ProgressMeter: Sendable {
    private struct State {
        var shown = ProgressBar.State()
        var rate = RateEstimate()
        var isDrawn = false
        var isFinished = false
    }

    private let bar: ProgressBar
    private let start = ContinuousClock.now
    private let state = Locked(State())

    init(bar: ProgressBar) {
        self.bar = bar
        Task { [weak self] in
            while let self, !isFinished {
                try await Task.sleep(for: .milliseconds(100))
                draw()
            }
        }
    }

    private var isFinished: Bool { state.withLock { $0.isFinished } }

    /// Sets the number of bytes that earlier runs received.
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

    /// Writes text in place of the line. The next update draws the line again.
    func write(_ text: String) {
        state.withLock { state in
            Self.erase(&state)
            StandardError.write(text)
        }
    }

    /// Draws the final line of a transfer of this many bytes.
    func finish(bytes: Int64) {
        state.withLock { state in
            (state.shown.completed, state.shown.isFinished) = (bytes, true)
            draw(&state)
            StandardError.write("\n")
            state.isFinished = true
        }
    }

    /// Erases the line permanently.
    func abandon() {
        state.withLock { state in
            Self.erase(&state)
            state.isFinished = true
        }
    }

    private func draw() { state.withLock { draw(&$0) } }

    private func draw(_ state: inout State) {
        guard !state.isFinished else { return }
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

    /// Excludes the last column, because some terminals wrap after writing to it.
    private static var width: Int { max(1, OutputFacts.standardError.columns - 1) }
}

extension ProgressMeter? {
    /// Writes text to standard error, in place of the meter's line if there is a meter.
    func write(_ text: String) {
        if let self { self.write(text) } else { StandardError.write(text) }
    }
}

/// Formats the progress of a transfer as one terminal line.
struct ProgressBar {
    let style: Style
    let isUTF8: Bool

    /// The values to show.
    struct State: Equatable {
        var completed: Int64 = 0
        /// The part of `completed` that earlier runs received.
        var before: Int64 = 0
        /// Nil if it's unknown.
        var total: Int64?
        /// In bytes per second.
        var rate: Double?
        /// In seconds; nil if it's unknown.
        var remaining: Double?
        /// In seconds.
        var elapsed = 0.0
        var isFinished = false

        var fraction: Double? {
            if isFinished { return 1 }
            guard let total, total > 0 else { return nil }
            return min(1, max(0, Double(completed) / Double(total)))
        }
    }

    /// Returns a line of exactly this many visible characters, without the parts that don't fit.
    func line(_ state: State, width: Int) -> String {
        var parts = [Self.aligned(Quantity.bytes(state.completed), 9)]
        if let fraction = state.fraction {
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

/// An estimate of a transfer's rate: an average that gives recent seconds more weight.
struct RateEstimate {
    /// The number of seconds after which the weight of a measurement has dropped to about a third.
    private static let memory = 3.0
    private var time = 0.0
    private var bytes: Int64
    private var sum = 0.0
    private var weight = 0.0

    /// - Parameter bytes: The number of bytes that earlier runs received.
    init(bytes: Int64 = 0) { self.bytes = bytes }

    /// The rate in bytes per second; nil before the first measurement.
    var value: Double? { weight > 0 ? sum / weight : nil }

    /// Adds a measurement.
    ///
    /// - Parameters:
    ///   - bytes: The total number of bytes. If the number is lower than before, a new attempt has begun.
    ///   - time: The time in seconds since the start.
    mutating func update(bytes: Int64, at time: Double) {
        let elapsed = time - self.time
        guard elapsed > 0 else { return }
        let arrived = max(0, bytes - self.bytes)
        let decay = exp(-elapsed / Self.memory)
        sum = sum * decay + Double(arrived) / elapsed * (1 - decay)
        weight = weight * decay + (1 - decay)
        (self.time, self.bytes) = (time, bytes)
    }

    /// Returns the estimated number of seconds to transfer this many more bytes, or nil if there is no estimate.
    func seconds(for rest: Int64) -> Double? {
        guard let value, value > 0 else { return nil }
        return Double(max(0, rest)) / value
    }
}

/// Shows on the terminal that a slow request is in progress.
final class Spinner: Sendable {
    private struct State {
        var isVisible = false
        var isFinished = false
        var frame = 0
    }

    private let frames: [String]
    private let text: String
    private let manager = NetworkActivityIndicatorManager(queue: DispatchQueue(label: "afar.spinner"))
    private let state = Locked(State())

    /// Creates a spinner, or returns nil if standard error isn't a terminal or also receives logs.
    convenience init?(waitingFor host: String, isHidden: Bool) {
        let output = OutputFacts.standardError
        let isHidden = isHidden || ProcessInfo.processInfo.environment["AFAR_LOG"] != nil
        guard output.isTerminal, !isHidden else { return nil }
        self.init(waitingFor: host, isUTF8: output.isUTF8, columns: output.columns)
    }

    init(waitingFor host: String, isUTF8: Bool, columns: Int) {
        frames = (isUTF8 ? "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏" : "|/-\\").map { String($0) }
        // Some terminals wrap after the last column.
        text = String("  Waiting for \(TerminalText.line(host))".prefix(max(0, columns - 1)))
        manager.isEnabled = true
        Task { [weak self, changes = manager.visibility()] in
            for await isVisible in changes { self?.show(isVisible) }
        }
        Task { [weak self] in
            while self?.drawNextFrame() == true { try await Task.sleep(for: .milliseconds(100)) }
        }
    }

    /// Erases the spinner immediately and permanently.
    func stop() {
        state.withLock { state in
            erase(&state)
            state.isFinished = true
        }
        manager.isEnabled = false
    }

    private func show(_ isVisible: Bool) {
        state.withLock { state in
            if isVisible { state.isVisible = !state.isFinished } else { erase(&state) }
        }
    }

    /// Draws the next frame. Returns false once the spinner has stopped.
    private func drawNextFrame() -> Bool {
        state.withLock { state in
            guard state.isVisible, !state.isFinished else { return !state.isFinished }
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
