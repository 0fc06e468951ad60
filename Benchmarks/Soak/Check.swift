/// A condition and whether it was met.
struct Check {
    var text: String
    var holds: Bool

    init(_ text: String, _ holds: Bool) {
        self.text = text
        self.holds = holds
    }

    var line: String { "  \(holds ? "ok    " : "FAILED") \(text)" }
}
