import Afar
import AfarTestServer

/// Walks through steps and writes each one down as soon as it is done.
struct DemoRunner {
    let style: Style
    let write: (String) throws -> Void

    /// Returns how many steps did not come out as expected.
    func run(_ steps: [DemoStep], server: TestServer) async throws -> Int {
        try write(
            """

            \(style.paint("Afar \(AFInfo.version)", .bold)), a walk in \(steps.count) steps.
            A server inside this process answers at \(style.paint(server.url.absoluteString, .cyan)).


            """)
        var failed = 0
        let start = ContinuousClock.now
        for (index, step) in steps.enumerated() {
            try write("\(style.paint("\(index + 1). \(step.title)", .bold))\n\n")
            try write(SwiftCode.painted(step.code, style: style).indented(by: 7) + "\n\n")
            let (text, isExpected) = await outcome(of: step, server: server)
            if !isExpected { failed += 1 }
            let mark = isExpected ? style.paint("✓", .green) : style.paint("✗", .red)
            try write("   \(mark) \(text)\n\n\n")
        }
        let time = Self.text(ContinuousClock.now - start)
        try write(
            failed == 0
                ? "\(style.paint("All \(steps.count) steps came out as expected", .green)), in \(time).\n"
                : "\(style.paint("\(failed) of \(steps.count) steps went wrong", .red)), in \(time).\n")
        return failed
    }

    private func outcome(of step: DemoStep, server: TestServer) async -> (text: String, isExpected: Bool) {
        let start = ContinuousClock.now
        do {
            let result = try await step.run(server)
            let time = style.paint("(\(Self.text(ContinuousClock.now - start)))", .dim)
            return ("\(result.indented(by: 5).drop { $0 == " " }) \(time)", true)
        } catch let unexpected as DemoStep.Unexpected {
            return ("Not as expected: \(TerminalText.line(unexpected.result))", false)
        } catch {
            return (TerminalText.line(error.localizedDescription), false)
        }
    }

    static func text(_ duration: Duration) -> String {
        let milliseconds = duration / .milliseconds(1)
        return milliseconds < 1000
            ? String(format: "%.0f ms", milliseconds.rounded(.up)) : String(format: "%.1f s", milliseconds / 1000)
    }
}
