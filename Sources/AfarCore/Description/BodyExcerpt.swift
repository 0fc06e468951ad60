import Foundation

/// A readable excerpt of a body, or only its length if it isn't text.
struct BodyExcerpt {
    /// The length, such as "23 bytes".
    let size: String
    /// The excerpt; nil if the body is empty or isn't text.
    let text: String?

    private static let longestText = 1000

    init(_ body: Data) {
        size = Quantity.bytes(Int64(body.count))
        // A character that the limit splits is dropped, so that it doesn't make the body look binary.
        let cut = body.prefix(Self.longestText)
        var start = String(decoding: cut, as: UTF8.self)
        if cut.count < body.count, start.last == "\u{FFFD}" { start.removeLast() }
        guard !start.isEmpty, !TerminalText.isBinary(start) else {
            text = nil
            return
        }
        text = TerminalText.safe(start) + (cut.count < body.count ? "…" : "")
    }
}
