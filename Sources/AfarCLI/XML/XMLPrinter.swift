import Afar
import AfarXML
import Foundation
import HTTPTypes

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
