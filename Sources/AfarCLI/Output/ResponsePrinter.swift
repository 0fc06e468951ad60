import Afar
import AfarCore
import AfarTestServer
import AfarXML
import ArgumentParser
import Foundation
import HTTPTypes

/// Prints any response: formatted for a terminal, or the body's exact bytes for a pipe.
struct ResponsePrinter: BodyPrinter {
    let style: Style
    /// Whether to print the status line and the headers before the body.
    let includesHead: Bool
    /// The encoding that overrides the response's. If it's set, a pipe receives UTF-8.
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

    /// Returns the status line and the headers.
    static func lines(of head: ResponseHead, _ style: Style) -> String {
        let status = style.paint(StatusLine.text(of: head.status), StatusLine.paint(for: head.status))
        let fields = head.fields.map { field in
            "\(style.paint(field.name.rawName, .cyan)): \(style.isPretty ? TerminalText.line(field.value) : field.value)"
        }
        return (["\(TerminalText.line(head.httpVersion)) \(status)"] + fields + ["", ""]).joined(separator: "\n")
    }

    private func readable(_ body: Data, _ head: ResponseHead) -> String {
        if charset == nil, let line = imageLine(body, head) { return style.paint(line, .dim) + "\n" }
        guard let text = propertyListText(body, head) ?? text(of: body, head),
            charset != nil || !TerminalText.isBinary(text)
        else {
            let content = BodyText.summary(Int64(body.count), type: head.value(for: .contentType))
            return style.paint("(\(content), not shown on a terminal. To save it, use > name)", .dim) + "\n"
        }
        return BodyText.readable(text, head.mediaType, style)
    }

    /// Returns one line with the command that draws the image, or nil if the body isn't an image. SVG images are shown as text.
    private func imageLine(_ body: Data, _ head: ResponseHead) -> String? {
        let type = head.mediaType
        guard type.essence.hasPrefix("image/"), !type.isXML else { return nil }
        let url = ShellWord.quoted(TerminalText.line(Redaction.standard.url(head.url)))
        return "(\(BodyText.summary(Int64(body.count), type: type.essence)). To show it, use afar image \(url))"
    }

    /// Returns the body as text, or nil if it isn't text. With `--charset`, every body counts as text.
    private func text(of body: Data, _ head: ResponseHead) -> String? {
        let decoding = charset.map { TextDecoding(encoding: $0, malformedBytes: .replace) } ?? .automatic
        return try? decoding.decode(body, as: head.mediaType).text
    }

    /// Returns the XML form of a binary property list, or nil for other bodies.
    private func propertyListText(_ body: Data, _ head: ResponseHead) -> String? {
        let input = SerializationInput(request: nil, head: head, data: body, error: nil)
        guard body.starts(with: "bplist".utf8), let object = try? PropertyListResponseSerializer().serialize(input),
            let xml = try? PropertyListSerialization.data(fromPropertyList: object, format: .xml, options: 0)
        else { return nil }
        return String(data: xml, encoding: .utf8)
    }
}

/// The form of bodies for reading on a terminal.
enum BodyText {
    /// Returns text indented and colored by its type, without unsafe control characters, and with a line break at its end.
    static func readable(_ text: String, _ type: MediaType, _ style: Style) -> String {
        let readable = JSONText.indented(text, style: style) ?? markup(text, type, style)
        return readable.hasSuffix("\n") ? readable : readable + "\n"
    }

    private static func markup(_ text: String, _ type: MediaType, _ style: Style) -> String {
        let safe = TerminalText.safe(XMLText.isXML(type) ? XMLText.indented(text) ?? text : text)
        if type.essence == "text/html" { return MarkupText.colored(safe, isHTML: true, style) }
        return type.isXML ? MarkupText.colored(safe, style) : safe
    }

    /// Returns the size and the type of a body, such as "12 kB of image/png".
    static func summary(_ count: Int64, type: String?) -> String {
        "\(Quantity.bytes(count)) of \(type.flatMap { $0.isEmpty ? nil : TerminalText.line($0) } ?? "binary data")"
    }
}

/// A type that formats responses for standard output.
protocol BodyPrinter {
    /// Returns the output for a response.
    ///
    /// - Parameters:
    ///   - head: The final head, which the printer can include.
    ///   - body: The entire body, after content decoding.
    /// - Throws: A ``Failure`` if the body doesn't have the expected format.
    func output(head: ResponseHead, body: Data) throws -> Data
}

/// The text and color of a response's status.
enum StatusLine {
    /// Returns the status with its registered phrase, such as "404 Not Found", or only the number if it has none.
    static func text(of status: Int) -> String {
        StatusText.registeredPhrase(for: status).map { "\(status) \($0)" } ?? "\(status)"
    }

    static func paint(for status: Int) -> Style.Paint {
        switch status {
        case 200..<300: .green
        case 300..<400: .yellow
        case 400...: .red
        default: .cyan
        }
    }
}

/// Recognizes and indents XML.
enum XMLText {
    /// Returns whether a type is XML. XHTML is excluded, because indenting would change its white space.
    static func isXML(_ type: MediaType) -> Bool { type.isXML && type.essence != "application/xhtml+xml" }

    /// Returns the text indented by two spaces per level, or nil if it isn't XML or has a document type. Indenting
    /// would lose parts of the document type.
    static func indented(_ text: String) -> String? {
        try? XML.Document(text).xmlString(prettyPrinted: true)
    }
}
