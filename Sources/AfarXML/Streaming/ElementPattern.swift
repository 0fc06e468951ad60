import CLibxml2
import Foundation

/// Which elements of a stream are wanted. Used by one thread at a time.
final class ElementPattern {
    /// libxml2's matcher, which is notified of each element as it begins and ends.
    let stream: xmlStreamCtxtPtr
    private let pattern: xmlPatternPtr

    init(_ text: String, _ namespaces: [String: String]) throws(XML.Error) {
        // libxml2 takes these for patterns, though no element of a stream could match.
        let steps = text.split(whereSeparator: { "/|".contains($0) }).map { $0.trimmingCharacters(in: .whitespaces) }
        let choosesElements = !text.contains("@") && !text.contains("attribute::") && !steps.contains(".")
        let pattern = choosesElements ? Self.compiled(text, namespaces) : nil
        guard let pattern, xmlPatternStreamable(pattern) == 1, let stream = xmlPatternGetStreamCtxt(pattern) else {
            xmlFreePattern(pattern)
            throw XML.Error(
                .invalidXPath,
                "“\(text)” cannot choose elements of a stream: that is done by names joined by / and //, with prefixes given"
            )
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
        let texts: [String] = namespaces.flatMap { [$0.value, $0.key] }
        var names = texts.map { UnsafePointer<xmlChar>(xmlStrdup($0)) }
        defer { for name in names { afar_xml_free(UnsafeMutablePointer(mutating: name)) } }
        names.append(nil)
        return xmlPatterncompile(text, nil, 0, &names)
    }
}
