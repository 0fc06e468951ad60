import ArgumentParser

/// The formatting of output.
struct Style: Equatable {
    /// Whether bodies are formatted for reading; otherwise, their bytes are unchanged.
    var isPretty: Bool
    var isColored: Bool

    static let plain = Style(isPretty: false, isColored: false)

    /// - Parameters:
    ///   - choice: The value of `--color`.
    ///   - output: The properties of the output stream.
    init(_ choice: ColorChoice, output: OutputFacts) {
        switch choice {
        case .auto: self.init(isPretty: output.isTerminal, isColored: output.isTerminal && output.allowsColors)
        case .always: self.init(isPretty: true, isColored: true)
        case .never: self.init(isPretty: output.isTerminal, isColored: false)
        }
    }

    init(isPretty: Bool, isColored: Bool) {
        self.isPretty = isPretty
        self.isColored = isColored
    }

    /// Text attributes with their numbers from ECMA-48, section 8.3.117.
    enum Paint: String {
        case bold = "1"
        case dim = "2"
        case red = "31"
        case green = "32"
        case yellow = "33"
        case blue = "34"
        case magenta = "35"
        case cyan = "36"
    }

    func paint(_ text: some StringProtocol, _ paint: Paint) -> String {
        isColored && !text.isEmpty ? "\u{1B}[\(paint.rawValue)m\(text)\u{1B}[0m" : String(text)
    }
}

/// The options for colors.
struct ColorOptions: ParsableArguments {
    @Option(help: "Colors and indented JSON. With auto, on terminals; NO_COLOR turns colors off.")
    var color = ColorChoice.auto

    /// Returns the style for an output stream.
    func style(for output: OutputFacts) -> Style { Style(color, output: output) }
}

/// The values of `--color`.
enum ColorChoice: String, CaseIterable, ExpressibleByArgument {
    /// On a terminal, unless NO_COLOR is set.
    case auto
    /// Even if the output isn't a terminal.
    case always
    case never
}

/// A bar of block characters with a resolution of an eighth of a character.
enum BlockBar {
    private static let parts: [Character] = ["▏", "▎", "▍", "▌", "▋", "▊", "▉"]

    /// Returns a bar of this length in characters.
    static func text(_ length: Double) -> String {
        let eighths = Int((max(0, length) * 8).rounded())
        let end = eighths % 8 == 0 ? "" : String(parts[eighths % 8 - 1])
        return String(repeating: "█", count: eighths / 8) + end
    }
}
