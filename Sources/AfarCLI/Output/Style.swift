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
