import CLibxml2

extension XML.NodeProtocol {
    /// This as XML text, with everything in it.
    ///
    /// - Parameter prettyPrinted: Whether elements that hold elements only are put on lines of their own, indented by two
    ///   spaces for each level; white space between them is dropped then, unless `xml:space` is `preserve`. The default
    ///   is to leave everything as it is.
    public func xmlString(prettyPrinted: Bool = false) -> String {
        prettyPrinted ? indented() : text(of: pointer, in: document.pointer, indented: false)
    }

    private func indented() -> String {
        guard let copy = xmlDocCopyNode(pointer, nil, 1) else { return "" }
        defer { xmlFreeNode(copy) }
        afar_xml_drop_blanks(copy)
        return text(of: copy, in: nil, indented: true)
    }

    private func text(of node: xmlNodePtr, in document: xmlDocPtr?, indented: Bool) -> String {
        guard let buffer = xmlBufferCreate() else { return "" }
        defer { xmlBufferFree(buffer) }
        guard xmlNodeDump(buffer, document, node, 0, indented ? 1 : 0) >= 0 else { return "" }
        let bytes = UnsafeBufferPointer(start: xmlBufferContent(buffer), count: Int(xmlBufferLength(buffer)))
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension XML.Document {
    /// The document as XML text in UTF-8, with its declaration and what stands beside the outermost element.
    ///
    /// - Parameter prettyPrinted: Whether elements that hold elements only are put on lines of their own.
    ///   ``XML/NodeProtocol/xmlString(prettyPrinted:)`` says the rest. The default is to leave everything as it is.
    public func xmlString(prettyPrinted: Bool = false) -> String {
        var lines = [#"<?xml version="1.0" encoding="UTF-8"?>"#]
        var next = pointer.pointee.children
        while let pointer = next {
            let node = XML.Node(document: self, pointer: pointer)
            if node.kind != .other || pointer.pointee.type == XML_DTD_NODE {
                lines.append(node.xmlString(prettyPrinted: prettyPrinted))
            }
            next = pointer.pointee.next
        }
        return lines.joined(separator: "\n") + "\n"
    }
}
