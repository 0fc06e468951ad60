import ArgumentParser

/// Whether a transfer's progress is shown.
struct ProgressOptions: ParsableArguments {
    @Flag(
        inversion: .prefixedNo,
        help: "Show how far it is on the standard error stream. By default that is done on a terminal.")
    var progress: Bool?

    /// The line on the terminal, if there is to be one.
    func makeMeter(_ colors: ColorOptions) -> ProgressMeter? {
        let output = OutputFacts.standardError
        guard progress ?? output.isTerminal else { return nil }
        return ProgressMeter(bar: ProgressBar(style: colors.style(for: output), isUTF8: output.isUTF8))
    }
}
