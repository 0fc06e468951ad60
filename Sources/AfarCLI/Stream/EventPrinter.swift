import Afar
import Foundation

/// Turns server-sent events into what is written to the standard output.
struct EventPrinter {
    let style: Style
    let isJSON: Bool

    /// An event as lines: its type and its ID, then its data, indented; or as a JSON object in one line.
    func text(_ event: ServerSentEvent) -> String {
        if isJSON {
            let members = [("event", event.event), ("id", event.id), ("data", event.data)]
            return safe("{" + members.map { "\"\($0)\":\(JSONText.string($1))" }.joined(separator: ",") + "}\n")
        }
        let id = event.id.isEmpty ? "" : style.paint(" \(safe(event.id))", .dim)
        let lines = event.data.split(separator: "\n", omittingEmptySubsequences: false)
        return style.paint(safe(event.event), .bold) + id + "\n" + lines.map { "  \(safe($0))\n" }.joined()
    }

    /// A terminal gets nothing that steers it.
    private func safe(_ text: some StringProtocol) -> String {
        style.isPretty ? TerminalText.safe(String(text)) : String(text)
    }
}
