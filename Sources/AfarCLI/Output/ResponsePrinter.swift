import Afar
import Foundation
import HTTPTypes

/// Turns a response into what is written to the standard output.
struct ResponsePrinter {
    let style: Style
    /// Whether the status line and the headers come before the body.
    let includesHead: Bool

    /// - Parameters:
    ///   - body: The body's bytes, which a pipe gets as they are.
    ///   - text: The same as text, where it is some; only for a person.
    func output(head: ResponseHead, body: Data, text: String?) -> Data {
        var output = Data()
        if includesHead { output.append(contentsOf: Self.lines(of: head, style).utf8) }
        guard style.isPretty else { return output + body }
        if !body.isEmpty {
            let type = head.value(for: .contentType) ?? ""
            output.append(contentsOf: Self.readable(body, text, type: type, style).utf8)
        } else if !includesHead {
            output.append(contentsOf: (style.paint("\(StatusLine.text(of: head.status)), no body", .dim) + "\n").utf8)
        }
        return output
    }

    /// The status line and the headers.
    static func lines(of head: ResponseHead, _ style: Style) -> String {
        let status = style.paint(StatusLine.text(of: head.status), StatusLine.paint(for: head.status))
        let fields = head.fields.map { field in
            "\(style.paint(field.name.rawName, .cyan)): \(style.isPretty ? TerminalText.safe(field.value) : field.value)"
        }
        return (["\(head.httpVersion) \(status)"] + fields + ["", ""]).joined(separator: "\n")
    }

    private static func readable(_ body: Data, _ text: String?, type: String, _ style: Style) -> String {
        guard let text = propertyListText(body) ?? text, !TerminalText.isBinary(text) else {
            let size = Quantity.bytes(Int64(body.count))
            let kind = type.isEmpty ? "binary data" : TerminalText.line(type)
            return style.paint("(\(size) of \(kind): not for a terminal, write it to a file with > name)", .dim) + "\n"
        }
        let safe = TerminalText.safe(text)
        let readable = JSONText.indented(safe, style: style) ?? safe
        return readable.hasSuffix("\n") ? readable : readable + "\n"
    }

    /// A binary property list as XML.
    private static func propertyListText(_ body: Data) -> String? {
        guard body.starts(with: Data("bplist0".utf8)),
            let object = try? PropertyListSerialization.propertyList(from: body, format: nil),
            let xml = try? PropertyListSerialization.data(fromPropertyList: object, format: .xml, options: 0)
        else { return nil }
        return String(data: xml, encoding: .utf8)
    }
}
