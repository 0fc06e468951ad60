import Testing

@testable import AfarCLI

struct ProgressBarTests {
    private let bar = ProgressBar(style: .plain, isUTF8: true)
    private let half = ProgressBar.State(
        completed: 1_500_000, total: 3_000_000, rate: 250_000, remaining: 6, elapsed: 6)

    @Test func aLineShowsAllValues() {
        #expect(bar.line(half, width: 60) == "▕██████████          ▏   50%   1.5 MB   250 kB/s    ETA 0:06")
        let ascii = ProgressBar(style: .plain, isUTF8: false)
        #expect(ascii.line(half, width: 60) == "[==========>         ]   50%   1.5 MB   250 kB/s    ETA 0:06")
    }

    @Test func aLineFitsTheWidth() {
        var states = [half, ProgressBar.State()]
        states.append(.init(completed: .max, total: 1, rate: 1e30, remaining: 1e30, elapsed: 1e30, isFinished: true))
        states.append(.init(completed: 5, total: nil, rate: nil, remaining: nil, elapsed: 100))
        for state in states {
            for width in [0, 1, 5, 20, 30, 40, 60, 200] { #expect(bar.line(state, width: width).count == width) }
        }
    }

    @Test func aNarrowTerminalShowsTheMostImportantValues() {
        #expect(bar.line(half, width: 36).trimmingPrefix(" ") == "50%   1.5 MB   250 kB/s    ETA 0:06")
        #expect(bar.line(half, width: 30).trimmingPrefix(" ") == "50%   1.5 MB   250 kB/s      ")
        #expect(bar.line(half, width: 16).trimmingPrefix(" ") == "50%   1.5 MB   ")
    }

    @Test func anUnknownLengthHasNoBar() {
        let line = bar.line(.init(completed: 1000, total: nil, rate: 500, elapsed: 3725), width: 60)
        #expect(line.split(separator: " ") == ["1.0", "kB", "500", "bytes/s", "1:02:05"])
    }

    @Test func hundredPercentIsShownOnlyAtTheEnd() {
        var state = half
        state.completed = 3_000_000
        #expect(bar.line(state, width: 60).contains(" 99%"))
        state.isFinished = true
        #expect(bar.line(state, width: 60).hasSuffix("100%   3.0 MB   500 kB/s     in 0:06"))
    }

    @Test func colorsAddNoWidth() {
        let coloured = ProgressBar(style: Style(isPretty: true, isColored: true), isUTF8: true)
        let line = coloured.line(half, width: 60).replacing(/\u{1B}\[[0-9]+m/, with: "")
        #expect(line == bar.line(half, width: 60))
    }
}
