import Afar
import AfarXML
import ArgumentParser
import Foundation
import HTTPTypes

struct ShowXML: ResponseCommand {
    static let configuration = CommandConfiguration(
        commandName: "xml",
        abstract: "Fetch an XML document and show all or part of it.",
        usage: "afar xml <url> [--xpath <expression>] [<options>]",
        discussion: """
            Prints the document indented, or the nodes that --xpath selects: elements as XML, attributes and text nodes as \
            text. If nothing is selected, the exit code is 1.
            """,
        examples: [
            "afar xml example.com/feed.xml",
            "afar xml :8080/xml --xpath '//name[1]/text()'",
            "afar xml feed.example --xpath //a:title --ns a=http://www.w3.org/2005/Atom",
            "afar xml example.com --html --xpath 'count(//a)'",
        ])

    @OptionGroup(title: "Document") var document: XMLOptions
    @OptionGroup var address: AddressArgument
    @OptionGroup(title: "Request") var sending: SendingOptions
    @OptionGroup(title: "Request") var jar: CookieJarOptions
    @OptionGroup(title: "Archives and reports") var archive: ArchiveOptions
    @OptionGroup(title: "Network") var network: NetworkOptions
    @OptionGroup(title: "Trust and identity") var security: SecurityOptions
    @OptionGroup(title: "Output") var output: OutputOptions
    @OptionGroup(title: "Output") var messages: MessageOptions
    @OptionGroup(title: "Looking inside") var inspection: InspectionOptions
    @OptionGroup var colors: ColorOptions

    func run() async throws {
        let plan = try RequestPlan(.get, address, self)
        let printer = XMLPrinter(
            style: colors.style(for: .standardOutput),
            includesHead: parts(of: .get, showsHead: false).contains(.responseHead),
            readsHTML: document.html, query: try XPathQuery(document), charset: output.charset,
            url: Redaction.standard.url(plan.url))
        try await RequestRunner(plan: plan, options: self, printer: printer).run()
    }
}

// MARK: - Options

/// The options for showing a document.
struct XMLOptions: ParsableArguments {
    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Show only the result of this XPath 1.0 expression.", valueName: "expression"))
    var xpath: String?

    @Option(
        name: .customLong("ns"), parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            "Bind a prefix of the expression to a namespace. Can be repeated.", valueName: "prefix=URI"))
    var namespaces: [String] = []

    @Flag(help: "Read an HTML page and repair its errors.")
    var html = false
}

// MARK: - Printing

/// Prints an XML or HTML response: the indented document, or the result of an XPath expression.
struct XMLPrinter: BodyPrinter {
    let style: Style
    /// Whether to print the status line and the headers before the document.
    let includesHead: Bool
    let readsHTML: Bool
    let query: XPathQuery?
    let charset: TextEncoding?
    /// The document's URL, for messages.
    let url: String

    func output(head: ResponseHead, body: Data) throws -> Data {
        let document = try document(body, head)
        let text = try text(of: document)
        let lines = includesHead ? ResponsePrinter.lines(of: head, style) : ""
        return Data((lines + text).utf8)
    }

    private func document(_ body: Data, _ head: ResponseHead) throws(Failure) -> XML.Document {
        // The size of every response is already limited.
        let options = XML.ParsingOptions(maximumBytes: .max, documentType: .ignored, encoding: charset)
        let type = head.values(for: .contentType).last
        do throws(XML.Error) {
            return readsHTML
                ? try XML.Document(html: body, contentType: type, options: options)
                : try XML.Document(body, contentType: type, options: options)
        } catch {
            let status = (200..<300).contains(head.status) ? "" : " The status is \(StatusLine.text(of: head.status))."
            let isPage = !readsHTML && head.mediaType.essence.contains("html")
            let hint = isPage ? " To read an HTML page, use --html." : ""
            let format = readsHTML ? "HTML" : "XML"
            throw Failure(.response, "The response from \(url) isn't valid \(format): \(error).\(status)\(hint)")
        }
    }

    private func text(of document: XML.Document) throws -> String {
        guard let query else { return markup(document.xmlString(prettyPrinted: true)) }
        let result = try query.result(in: document)
        guard case .nodes(let nodes) = result else { return safe(result.string) + "\n" }
        guard !nodes.isEmpty else { throw noMatch(for: query, in: document) }
        return nodes.map { node in
            let text = text(of: node)
            return text.hasSuffix("\n") ? text : text + "\n"
        }
        .joined()
    }

    private func text(of node: XML.Node) -> String {
        switch node.kind {
        case .document: markup(node.document.xmlString(prettyPrinted: true))
        case .attribute, .text, .cdata: safe(node.text)
        case .element, .comment, .processingInstruction, .other: markup(node.xmlString(prettyPrinted: true))
        }
    }

    private func safe(_ text: String) -> String { style.isPretty ? TerminalText.safe(text) : text }

    private func markup(_ text: String) -> String { MarkupText.colored(safe(text), isHTML: readsHTML, style) }

    private func noMatch(for query: XPathQuery, in document: XML.Document) -> Failure {
        let namespace = document.root.namespaceURI
        let hint =
            query.namespaces.isEmpty
            ? namespace.map { " Its elements are in a namespace: use --ns p=\($0), then p:\(document.root.localName)." }
            : nil
        return Failure(.noMatch, "Nothing in \(url) matches \(query.expression).\(hint ?? "")")
    }
}

// MARK: - XPath

/// An XPath expression from the command line.
struct XPathQuery {
    let expression: String
    let namespaces: [String: String]

    /// Creates and checks the query in the options, or returns nil if they contain none.
    init?(_ options: XMLOptions) throws {
        var namespaces: [String: String] = [:]
        for text in options.namespaces {
            let pair = try NamedValue(text, option: "--ns")
            guard pair.name.wholeMatch(of: /[\p{L}_][\p{L}\p{N}\p{M}._\-]*/) != nil else {
                throw Failure(
                    .usage, "--ns \(text): \"\(pair.name)\" isn't a valid prefix. Use letters, as in --ns a=URI.")
            }
            guard namespaces.updateValue(pair.value, forKey: pair.name) == nil else {
                throw Failure(.usage, "--ns defines \"\(pair.name)\" twice.")
            }
        }
        guard let expression = options.xpath else {
            guard namespaces.isEmpty else {
                throw Failure(.usage, "--ns requires --xpath, whose prefixes it defines.")
            }
            return nil
        }
        self.expression = expression
        self.namespaces = namespaces
        // An invalid expression fails with every document, so it can be checked without a request.
        if let document = try? XML.Document("<x/>") { _ = try result(in: document) }
    }

    /// Evaluates the expression.
    func result(in document: XML.Document) throws -> XML.XPathResult {
        do throws(XML.Error) {
            return try document.xpath(expression, namespaces: namespaces)
        } catch {
            throw Failure(error, in: self)
        }
    }
}

extension Failure {
    /// Creates the failure of an invalid expression, with a mark under the error.
    fileprivate init(_ error: XML.Error, in query: XPathQuery) {
        let expression = query.expression
        guard error.kind == .invalidXPath else {
            self.init(.other, "--xpath: \(error.message).")
            return
        }
        let words = error.message.components(separatedBy: " in the XPath expression").first ?? error.message
        let hint = words.contains("prefix") ? " Define it with --ns prefix=URI." : ""
        self.init(.usage, "--xpath cannot be parsed: \(words).\(hint)")
        guard let offset = error.byteOffset, (0...expression.utf8.count).contains(offset) else { return }
        let before = TerminalText.line(String(decoding: expression.utf8.prefix(offset), as: UTF8.self))
        excerpt = "  \(TerminalText.line(expression))\n  \(String(repeating: " ", count: before.count))^\n"
    }
}
