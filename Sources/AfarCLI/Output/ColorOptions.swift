import ArgumentParser

/// Whether output is coloured.
struct ColorOptions: ParsableArguments {
    @Option(help: "Colours and indented JSON: auto is for terminals; NO_COLOR is respected.")
    var color = ColorChoice.auto

    /// The style of what is written to an output.
    func style(for output: OutputFacts) -> Style { Style(color, output: output) }
}
