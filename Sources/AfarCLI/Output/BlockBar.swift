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
