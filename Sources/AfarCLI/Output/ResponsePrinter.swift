import Afar
import AfarCore
import AfarTestServer
import AfarXML
import ArgumentParser
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

/// Turns responses into what is written to the standard output.
protocol BodyPrinter {
    /// What is written for a response.
    ///
    /// - Parameters:
    ///   - head: Its final head; the printer knows whether it is wanted.
    ///   - body: All of its body, after content decoding.
    /// - Throws: A ``Failure`` when the body is not what it has to be.
    func output(head: ResponseHead, body: Data) throws -> Data
}

// MARK: - Status

/// A response's status for a person.
enum StatusLine {
    /// "404 Not Found", with the words that belong to the number; the number alone where there are none.
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

// MARK: - XML

/// XML as text for people.
enum XMLText {
    /// Whether a type is XML, a page in XHTML apart: its white space is for its author.
    static func isXML(_ type: MediaType) -> Bool { type.isXML && type.essence != "application/xhtml+xml" }

    /// The text indented by two spaces a level; nil when it is no XML, or has a document type, which would not come through
    /// whole.
    static func indented(_ text: String) -> String? {
        try? XML.Document(text).xmlString(prettyPrinted: true)
    }
}

// MARK: - Options

/// What is printed of a response.
struct OutputOptions: ParsableArguments {
    @Flag(name: .shortAndLong, help: "Print the status line and the headers before the body.")
    var include = false

    @Flag(help: "Exit with code 4 when the status is not 2xx; the body is printed all the same.")
    var checkStatus = false

    @Option(
        help: ArgumentHelp(
            """
            Read the body as text in this charset, whatever the response says: a terminal shows it so, a pipe gets it in \
            UTF-8.
            """,
            valueName: "label"),
        transform: Charset.encoding(labelled:))
    var charset: TextEncoding?

    /// Throws what `--check-status` promises.
    func check(_ head: ResponseHead, url: String) throws {
        guard checkStatus, !(200..<300).contains(head.status) else { return }
        throw Failure(
            .httpStatus,
            "\(Redaction.standard.url(url)) answered \(StatusLine.text(of: head.status)), which is not 2xx.")
    }
}

/// What `--charset` can be.
enum Charset {
    /// Reads a label.
    static func encoding(labelled label: String) throws -> TextEncoding {
        if let encoding = TextEncoding(label: label) { return encoding }
        throw ValidationError(
            "A charset of that name is unknown. Known are utf-8, utf-16, iso-8859-1, windows-1251, koi8-r, shift_jis, euc-jp, "
                + "gb18030, big5, euc-kr and others of the WHATWG Encoding Standard.")
    }
}
