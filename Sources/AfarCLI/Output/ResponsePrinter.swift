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
            return style.paint("(\(size) of \(kind), not shown on a terminal. To save it, use > name)", .dim) + "\n"
        }
        let safe = TerminalText.safe(XMLText.isXML(head.mediaType) ? XMLText.indented(text) ?? text : text)
        let readable = JSONText.indented(safe, style: style) ?? safe
        return readable.hasSuffix("\n") ? readable : readable + "\n"
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

/// The options for printing a response.
struct OutputOptions: ParsableArguments {
    @Flag(name: .shortAndLong, help: "Print the status line and the headers before the body.")
    var include = false

    @Flag(name: .shortAndLong, help: "Show no progress. Errors are shown.")
    var silent = false

    @Flag(
        name: [.customShort("f"), .customLong("check-status"), .customLong("fail")],
        help: "Exit with code 4 if the status isn't 2xx. The body is still printed.")
    var checkStatus = false

    @Option(
        help: ArgumentHelp(
            "Decode the body with this charset instead of the response's. A pipe receives UTF-8.",
            valueName: "label"),
        transform: Charset.encoding(labelled:))
    var charset: TextEncoding?

    /// With `--check-status`, throws a ``Failure`` if the status isn't 2xx.
    func check(_ head: ResponseHead, url: String) throws {
        guard checkStatus, !(200..<300).contains(head.status) else { return }
        throw Failure(
            .httpStatus,
            "\(Redaction.standard.url(url)) returned \(StatusLine.text(of: head.status)), which isn't 2xx.")
    }
}

/// The values of `--charset`.
enum Charset {
    /// Returns the encoding with a label.
    static func encoding(labelled label: String) throws -> TextEncoding {
        if let encoding = TextEncoding(label: label) { return encoding }
        throw ValidationError(
            "Unknown charset. Supported are utf-8, utf-16, iso-8859-1, windows-1251, koi8-r, shift_jis, euc-jp, gb18030, "
                + "big5, euc-kr and the others of the WHATWG Encoding Standard.")
    }
}
