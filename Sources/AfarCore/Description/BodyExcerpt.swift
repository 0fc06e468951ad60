import Foundation

/// The beginning of a body for a person, or its length where nobody could read it.
struct BodyExcerpt {
    /// The length, "23 bytes".
    let size: String
    /// As much text as is shown; nil when the bytes are no text, or none.
    let text: String?

    private static let longestText = 1000

    init(_ body: Data) {
        size = Quantity.bytes(Int64(body.count))
        // A character that the cut goes through is left out, and is no sign of a binary body.
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
