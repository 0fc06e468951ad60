import Afar
import AfarXML

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
