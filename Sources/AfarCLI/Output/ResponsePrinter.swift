import Afar
import AfarCore
import Foundation
import HTTPTypes

/// Prints any response: for a person readable, for a pipe the body's bytes as they are.
struct ResponsePrinter: BodyPrinter {
    let style: Style
    /// Whether the status line and the headers come before the body.
    let includesHead: Bool
    /// The encoding that the body is read in whatever the response says; a pipe gets UTF-8 then.
    var charset: TextEncoding?

    func output(head: ResponseHead, body: Data) -> Data {
        var output = Data()
        if includesHead { output.append(contentsOf: Self.lines(of: head, style).utf8) }
        guard style.isPretty else { return output + (charset == nil ? body : Data((text(of: body, head) ?? "").utf8)) }
        if !body.isEmpty {
            output.append(contentsOf: readable(body, head).utf8)
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

    private func readable(_ body: Data, _ head: ResponseHead) -> String {
        let type = head.value(for: .contentType) ?? ""
        guard let text = propertyListText(body, head) ?? text(of: body, head),
            charset != nil || !TerminalText.isBinary(text)
        else {
            let size = Quantity.bytes(Int64(body.count))
            let kind = type.isEmpty ? "binary data" : TerminalText.line(type)
            return style.paint("(\(size) of \(kind): not for a terminal, write it to a file with > name)", .dim) + "\n"
        }
        let safe = TerminalText.safe(XMLText.isXML(head.mediaType) ? XMLText.indented(text) ?? text : text)
        let readable = JSONText.indented(safe, style: style) ?? safe
        return readable.hasSuffix("\n") ? readable : readable + "\n"
    }

    /// The body as text; nil where it is none. In a charset that a person has named it always is.
    private func text(of body: Data, _ head: ResponseHead) -> String? {
        let decoding = charset.map { TextDecoding(encoding: $0, malformedBytes: .replace) } ?? .automatic
        return try? decoding.decode(body, as: head.mediaType).text
    }

    /// A binary property list as XML.
    private func propertyListText(_ body: Data, _ head: ResponseHead) -> String? {
        let input = SerializationInput(request: nil, head: head, data: body, error: nil)
        guard body.starts(with: "bplist".utf8), let object = try? PropertyListResponseSerializer().serialize(input),
            let xml = try? PropertyListSerialization.data(fromPropertyList: object, format: .xml, options: 0)
        else { return nil }
        return String(data: xml, encoding: .utf8)
    }
}
