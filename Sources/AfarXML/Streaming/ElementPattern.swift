import CLibxml2

/// Which elements of a stream are wanted. Used by one thread at a time.
final class ElementPattern {
    /// libxml2's matcher, which is told of each element as it begins and ends.
    let stream: xmlStreamCtxtPtr
    private let pattern: xmlPatternPtr

    init(_ text: String, _ namespaces: [String: String]) throws(XML.Error) {
        let pattern = Self.compiled(text, namespaces)
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
