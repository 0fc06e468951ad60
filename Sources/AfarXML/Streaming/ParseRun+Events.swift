import CLibxml2

extension ParseRun {
    /// Makes events instead of a tree.
    func tellOfEvents() {
        afar_xml_install_event_hooks(
            context,
            { context, name, prefix, uri, _, _, count, _, attributes in
                guard let context, afar_xml_admits(context) else { return }
                let tag = XML.StartTag(
                    name: XML.Name(name, prefix, uri), attributes: attributesOf(attributes, count: Int(count)))
                ParseRun.of(context)?.onEvent?(.startElement(tag))
            },
            { context, name, prefix, uri in
                ParseRun.of(context)?.onEvent?(.endElement(XML.Name(name, prefix, uri)))
            },
            { context, text, length in
                let bytes = UnsafeBufferPointer(start: text, count: Int(length))
                ParseRun.of(context)?.onEvent?(.text(String(decoding: bytes, as: UTF8.self)))
            },
            { context, text in ParseRun.of(context)?.onEvent?(.comment(String(xml: text))) },
            { context, target, data in
                guard let context, afar_xml_admits_names(context) else { return }
                let event = XML.Event.processingInstruction(target: String(xml: target), data: String(xml: data))
                ParseRun.of(context)?.onEvent?(event)
            })
    }
}

/// libxml2 gives an attribute as five pointers: name, prefix, namespace, and the value's first byte and end.
private func attributesOf(
    _ pointers: UnsafeMutablePointer<UnsafePointer<xmlChar>?>?, count: Int
) -> [(name: XML.Name, value: String)] {
    guard let pointers else { return [] }
    return (0..<count).map { index in
        let attribute = pointers + 5 * index
        let length = attribute[3].flatMap { start in attribute[4].map { $0 - start } } ?? 0
        let value = UnsafeBufferPointer(start: attribute[3], count: length)
        return (XML.Name(attribute[0], attribute[1], attribute[2]), String(decoding: value, as: UTF8.self))
    }
}

extension XML.Name {
    fileprivate init(
        _ name: UnsafePointer<xmlChar>?, _ prefix: UnsafePointer<xmlChar>?, _ uri: UnsafePointer<xmlChar>?
    ) {
        self.init(
            localName: String(xml: name), prefix: prefix.map { String(xml: $0) },
            namespaceURI: uri.map { String(xml: $0) })
    }
}
