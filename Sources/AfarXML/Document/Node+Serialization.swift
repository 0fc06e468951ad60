import CLibxml2

extension XML.NodeProtocol {
    /// This as XML text, with everything in it and the namespaces that it needs.
    ///
    /// - Parameter prettyPrinted: Whether elements that hold elements only are put on lines of their own, indented by two
    ///   spaces for each level; white space between them is dropped then, unless `xml:space` is `preserve`. The default
    ///   is to leave everything as it is.
    public func xmlString(prettyPrinted: Bool = false) -> String {
        switch node.kind {
        case .document: document.xmlString(prettyPrinted: prettyPrinted)
        // libxml2 writes an attribute with the space before it.
        case .attribute: String(text(of: pointer, in: document.pointer, indented: false).dropFirst())
        default: copied(prettyPrinted: prettyPrinted)
        }
    }

    /// Writes a copy: that has all namespaces that it needs, and whatever libxml2 does to it does it to nobody else.
    private func copied(prettyPrinted: Bool) -> String {
        guard let document = xmlNewDoc("1.0") else { return "" }
        defer { xmlFreeDoc(document) }
        document.pointee.encoding = .init(xmlStrdup("UTF-8"))
        guard let copy = xmlDocCopyNode(pointer, document, 1) else { return "" }
        xmlAddChild(afar_xml_node(document), copy)
        if prettyPrinted { afar_xml_drop_blanks(copy) }
        return text(of: copy, in: document, indented: prettyPrinted)
    }

    private func text(of node: xmlNodePtr, in document: xmlDocPtr, indented: Bool) -> String {
        guard let buffer = xmlBufferCreate() else { return "" }
        defer { xmlBufferFree(buffer) }
        guard xmlNodeDump(buffer, document, node, 0, indented ? 1 : 0) >= 0 else { return "" }
        let bytes = UnsafeBufferPointer(start: xmlBufferContent(buffer), count: Int(xmlBufferLength(buffer)))
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension XML.Document: CustomStringConvertible {
    /// The document as XML text.
    public var description: String { xmlString() }

    /// The document as XML text in UTF-8, with its declaration and what stands beside the outermost element.
    ///
    /// - Parameter prettyPrinted: Whether elements that hold elements only are put on lines of their own.
    ///   ``XML/NodeProtocol/xmlString(prettyPrinted:)`` says the rest. The default is to leave everything as it is.
    public func xmlString(prettyPrinted: Bool = false) -> String {
        var lines = [#"<?xml version="1.0" encoding="UTF-8"?>"#]
        var next = pointer.pointee.children
        while let pointer = next {
            let node = XML.Node(document: self, pointer: pointer)
            if node.kind != .other { lines.append(node.xmlString(prettyPrinted: prettyPrinted)) }
            next = pointer.pointee.next
        }
        return lines.joined(separator: "\n") + "\n"
    }
}
