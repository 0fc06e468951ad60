import ArgumentParser

/// Whether output is for a person's eyes, and whether in colours.
struct Style: Equatable {
    /// Bodies are made readable; otherwise they are bytes that nobody touches.
    var isPretty: Bool
    var isColoured: Bool

    static let plain = Style(isPretty: false, isColoured: false)

    /// - Parameters:
    ///   - choice: What the person asked for.
    ///   - output: Where the output goes.
    init(_ choice: ColorChoice, output: OutputFacts) {
        switch choice {
        case .auto: self.init(isPretty: output.isTerminal, isColoured: output.isTerminal && output.allowsColours)
        case .always: self.init(isPretty: true, isColoured: true)
        case .never: self.init(isPretty: output.isTerminal, isColoured: false)
        }
    }

    init(isPretty: Bool, isColoured: Bool) {
        self.isPretty = isPretty
        self.isColoured = isColoured
    }

    /// The ways in which text can stand out; the numbers are those of ECMA-48, section 8.3.117.
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
        isColoured && !text.isEmpty ? "\u{1B}[\(paint.rawValue)m\(text)\u{1B}[0m" : String(text)
    }
}

// MARK: - Options

/// Whether output is coloured.
struct ColorOptions: ParsableArguments {
    @Option(help: "Colours and indented JSON: auto is for terminals; NO_COLOR is respected.")
    var color = ColorChoice.auto

    /// The style of what is written to an output.
    func style(for output: OutputFacts) -> Style { Style(color, output: output) }
}

/// What `--color` can be.
enum ColorChoice: String, CaseIterable, ExpressibleByArgument {
    /// On a terminal, unless NO_COLOR is set.
    case auto
    /// Wherever the output goes.
    case always
    case never
}

// MARK: - Bars

/// A bar of block characters, an eighth of a character fine.
enum BlockBar {
    private static let parts: [Character] = ["▏", "▎", "▍", "▌", "▋", "▊", "▉"]

    /// A bar of this length in characters.
    static func text(_ length: Double) -> String {
        let eighths = Int((max(0, length) * 8).rounded())
        let end = eighths % 8 == 0 ? "" : String(parts[eighths % 8 - 1])
        return String(repeating: "█", count: eighths / 8) + end
    }
}
