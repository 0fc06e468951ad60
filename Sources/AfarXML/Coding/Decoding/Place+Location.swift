import CLibxml2

extension Place {
    /// Where this is, for a person: `at /feed/entry[3]/title, line 12`.
    var location: String {
        let element = isElement ? node : node.pointee.parent ?? node
        return "at \(node.path), line \(xmlGetLineNo(element))"
    }
}
