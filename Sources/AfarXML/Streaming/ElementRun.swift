import CLibxml2
import Foundation

/// Makes elements of a document while its bytes come, and forgets all else.
final class ElementRun {
    private let push: PushRun
    private let pattern: ElementPattern

    /// - Parameters:
    ///   - pattern: Which elements.
    ///   - areKept: Whether elements may be used after `body` has returned.
    ///   - body: Called for each element when it is whole.
    init(
        matching pattern: String, _ namespaces: [String: String], _ options: XML.ParsingOptions, areKept: Bool,
        _ body: @escaping (XML.Element) -> Void
    ) throws(XML.Error) {
        push = try PushRun(options)
        self.pattern = try ElementPattern(pattern, namespaces)
        push.run.rules.pointee.wanted = self.pattern.stream
        push.run.onTree = { tree in
            guard let document = try? XML.Document(owning: tree) else { return }
            body(document.root)
        }
        afar_xml_install_stream_hooks(push.run.context, areKept)
    }

    func feed(_ chunk: Data) throws(XML.Error) { try push.feed(chunk) }

    func finish() throws(XML.Error) { try push.finish() }
}

/// Which elements of a stream are wanted. Used by one thread at a time.
private final class ElementPattern {
    /// libxml2's matcher, which is told of each element as it begins and ends.
    let stream: xmlStreamCtxtPtr
    private let pattern: xmlPatternPtr

    init(_ text: String, _ namespaces: [String: String]) throws(XML.Error) {
        let pattern = Self.compiled(text, namespaces)
        guard let pattern, xmlPatternStreamable(pattern) == 1, let stream = xmlPatternGetStreamCtxt(pattern) else {
            xmlFreePattern(pattern)
            throw XML.Error(
                .invalidXPath,
                "“\(text)” is no path that a stream can be matched with: names joined by / and //, with prefixes that are given")
        }
        self.pattern = pattern
        self.stream = stream
        // The document, in which the outermost element begins.
        xmlStreamPush(stream, nil, nil)
    }

    deinit {
        xmlFreeStreamCtxt(stream)
        xmlFreePattern(pattern)
    }

    private static func compiled(_ text: String, _ namespaces: [String: String]) -> xmlPatternPtr? {
        guard !text.utf8.contains(0) else { return nil }
        // Names and prefixes by turns, then NULL.
        var names: [UnsafePointer<xmlChar>?] = namespaces.flatMap { [$0.value, $0.key] }.map { UnsafePointer(xmlStrdup($0)) }
        defer { for name in names { afar_xml_free(UnsafeMutablePointer(mutating: name)) } }
        names.append(nil)
        return xmlPatterncompile(text, nil, 0, &names)
    }
}
