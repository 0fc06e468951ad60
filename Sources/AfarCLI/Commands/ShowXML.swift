import Afar
import AfarXML
import ArgumentParser
import Foundation
import HTTPTypes

struct ShowXML: ResponseCommand {
    static let configuration = CommandConfiguration(
        commandName: "xml",
        abstract: "Fetch an XML document, and show it or a part of it.",
        usage: "afar xml <url> [--xpath <expression>] [<options>]",
        discussion: """
            The document is indented. What an expression selects is printed one after the other: elements as XML, attributes \
            and texts as their text. When nothing is selected, the exit code is 1.
            """,
        examples: [
            "afar xml example.com/feed.xml",
            "afar xml :8080/xml --xpath '//title[1]/text()'",
            "afar xml :8080/feed --xpath //a:title --ns a=http://www.w3.org/2005/Atom",
            "afar xml example.com --html --xpath 'count(//a)'",
        ])

    @OptionGroup(title: "Document") var document: XMLOptions
    @OptionGroup var address: AddressArgument
    @OptionGroup(title: "Request") var sending: SendingOptions
    @OptionGroup(title: "HTTP archives") var archive: ArchiveOptions
    @OptionGroup(title: "Network") var network: NetworkOptions
    @OptionGroup(title: "Trust and identity") var security: SecurityOptions
    @OptionGroup(title: "Output") var output: OutputOptions
    @OptionGroup(title: "Looking inside") var inspection: InspectionOptions
    @OptionGroup var colors: ColorOptions

    func run() async throws {
        let plan = try RequestPlan(.get, address, self)
        let printer = XMLPrinter(
            style: colors.style(for: .standardOutput), includesHead: output.include,
            readsHTML: document.html, query: try XPathQuery(document), charset: output.charset,
            url: Redaction.standard.url(plan.url))
        try await RequestRunner(plan: plan, options: self, printer: printer).run()
    }
}

// MARK: - Options

/// What is shown of a document.
struct XMLOptions: ParsableArguments {
    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Show only what this XPath 1.0 expression gives.", valueName: "expression"))
    var xpath: String?

    @Option(
        name: .customLong("ns"), parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            "The namespace that a prefix means in the expression. Repeat it for more.", valueName: "prefix=URI"))
    var namespaces: [String] = []

    @Flag(help: "Read an HTML page, and repair what is wrong with it.")
    var html = false
}

// MARK: - Printing

/// Prints a response that is a document: all of it indented, or what an XPath expression gives.
struct XMLPrinter: BodyPrinter {
    let style: Style
    /// Whether the status line and the headers come before the document.
    let includesHead: Bool
    let readsHTML: Bool
    let query: XPathQuery?
    let charset: TextEncoding?
    /// Where the document is from.
    let url: String

    func output(head: ResponseHead, body: Data) throws -> Data {
        let document = try document(body, head)
        let text = try text(of: document)
        let lines = includesHead ? ResponsePrinter.lines(of: head, style) : ""
        return Data((lines + (style.isPretty ? TerminalText.safe(text) : text)).utf8)
    }

    private func document(_ body: Data, _ head: ResponseHead) throws(Failure) -> XML.Document {
        // Its size is bounded already, as is that of every response.
        let options = XML.ParsingOptions(maximumBytes: .max, documentType: .ignored, encoding: charset)
        let type = head.values(for: .contentType).last
        do throws(XML.Error) {
            return readsHTML
                ? try XML.Document(html: body, contentType: type, options: options)
                : try XML.Document(body, contentType: type, options: options)
        } catch {
            let status = (200..<300).contains(head.status) ? "" : " It is \(StatusLine.text(of: head.status))."
            let isPage = !readsHTML && head.mediaType.essence.contains("html")
            let hint = isPage ? " It is an HTML page: read it with --html." : ""
            let format = readsHTML ? "HTML" : "XML"
            throw Failure(.response, "The response from \(url) is no \(format): \(error).\(status)\(hint)")
        }
    }

    private func text(of document: XML.Document) throws -> String {
        guard let query else { return document.xmlString(prettyPrinted: true) }
        let result = try query.result(in: document)
        guard case .nodes(let nodes) = result else { return result.string + "\n" }
        guard !nodes.isEmpty else { throw noMatch(for: query, in: document) }
        return nodes.map { node in
            let text = text(of: node)
            return text.hasSuffix("\n") ? text : text + "\n"
        }
        .joined()
    }

    private func text(of node: XML.Node) -> String {
        switch node.kind {
        case .document: node.document.xmlString(prettyPrinted: true)
        case .attribute, .text, .cdata: node.text
        case .element, .comment, .processingInstruction, .other: node.xmlString(prettyPrinted: true)
        }
    }

    private func noMatch(for query: XPathQuery, in document: XML.Document) -> Failure {
        let namespace = document.root.namespaceURI
        let hint =
            query.namespaces.isEmpty
            ? namespace.map { " Its elements are in a namespace: --ns p=\($0), then p:\(document.root.localName)." }
            : nil
        return Failure(.noMatch, "Nothing in \(url) matches \(query.expression).\(hint ?? "")")
    }
}

// MARK: - XPath

/// An XPath expression from the command line.
struct XPathQuery {
    let expression: String
    let namespaces: [String: String]

    /// Makes the query that the options ask for, if they do, and sees whether it can be understood.
    init?(_ options: XMLOptions) throws {
        var namespaces: [String: String] = [:]
        for text in options.namespaces {
            let pair = try NamedValue(text, option: "--ns")
            guard pair.name.wholeMatch(of: /[\p{L}_][\p{L}\p{N}\p{M}._\-]*/) != nil else {
                throw Failure(
                    .usage, "--ns \(text): \"\(pair.name)\" cannot be a prefix. Take letters, as in --ns a=URI.")
            }
            guard namespaces.updateValue(pair.value, forKey: pair.name) == nil else {
                throw Failure(.usage, "--ns names \"\(pair.name)\" twice.")
            }
        }
        guard let expression = options.xpath else {
            guard namespaces.isEmpty else {
                throw Failure(.usage, "--ns is for the prefixes of an --xpath, of which there is none.")
            }
            return nil
        }
        self.expression = expression
        self.namespaces = namespaces
        // What is wrong with it shows in any document, so nothing has to be sent.
        if let document = try? XML.Document("<x/>") { _ = try result(in: document) }
    }

    /// What the expression gives.
    func result(in document: XML.Document) throws -> XML.XPathResult {
        do throws(XML.Error) {
            return try document.xpath(expression, namespaces: namespaces)
        } catch {
            throw Failure(error, in: self)
        }
    }
}

extension Failure {
    /// What is wrong with an expression, with a mark under the place.
    fileprivate init(_ error: XML.Error, in query: XPathQuery) {
        let expression = query.expression
        guard error.kind == .invalidXPath else {
            self.init(.other, "--xpath: \(error.message).")
            return
        }
        let words = error.message.components(separatedBy: " in the XPath expression").first ?? error.message
        let hint = words.contains("prefix") ? " Say what it means with --ns prefix=URI." : ""
        self.init(.usage, "--xpath cannot be understood: \(words).\(hint)")
        guard let offset = error.byteOffset, (0...expression.utf8.count).contains(offset) else { return }
        let before = TerminalText.line(String(decoding: expression.utf8.prefix(offset), as: UTF8.self))
        excerpt = "  \(TerminalText.line(expression))\n  \(String(repeating: " ", count: before.count))^\n"
    }
}
