import CLibxml2
import Foundation

/// What an expression gives while it is evaluated. Texts are UTF-8.
enum XPathValue {
    /// In the document's order, each once.
    case nodes([xmlNodePtr])
    case text([UInt8])
    case number(Double)
    case boolean(Bool)
}

extension XPathValue {
    /// As `boolean()` has it (XPath 1.0, section 4.3).
    var boolean: Bool {
        switch self {
        case .nodes(let nodes): !nodes.isEmpty
        case .text(let text): !text.isEmpty
        case .number(let number): number != 0 && !number.isNaN
        case .boolean(let value): value
        }
    }
}

extension XPathEvaluation {
    /// A value as `string()` has it (section 4.2).
    func text(of value: XPathValue) throws(XML.Error) -> [UInt8] {
        switch value {
        case .nodes(let nodes):
            guard let first = nodes.first else { return [] }
            return try text(of: first)
        case .text(let text): return text
        case .number(let number): return Array(XML.XPathResult.text(of: number).utf8)
        case .boolean(let value): return Array((value ? "true" : "false").utf8)
        }
    }

    /// A value as `number()` has it (section 4.4).
    func number(of value: XPathValue) throws(XML.Error) -> Double {
        switch value {
        case .number(let number): return number
        case .boolean(let value): return value ? 1 : 0
        case .nodes, .text: return XML.XPathResult.number(in: try text(of: value))
        }
    }

    func number(of node: xmlNodePtr) throws(XML.Error) -> Double {
        XML.XPathResult.number(in: try text(of: node))
    }

    /// A node's text (section 5), or as much of it as it takes to have more than so many bytes.
    func text(of node: xmlNodePtr, beyond length: Int = .max) throws(XML.Error) -> [UInt8] {
        var text: [UInt8] = []
        switch node.pointee.type {
        case XML_ELEMENT_NODE, XML_DOCUMENT_NODE, XML_HTML_DOCUMENT_NODE:
            var next = node.firstChild
            while let current = next, text.count <= length {
                if current.isText {
                    try append(current.pointee.content, to: &text, beyond: length)
                } else {
                    try spend(1)
                }
                next = current.next(inside: node)
            }
        case XML_ATTRIBUTE_NODE:
            var next = node.pointee.children
            while let current = next, text.count <= length {
                try append(current.pointee.content, to: &text, beyond: length)
                next = current.pointee.next
            }
        case XML_NAMESPACE_DECL: try append(node.namespace.pointee.href, to: &text, beyond: length)
        default: try append(node.pointee.content, to: &text, beyond: length)
        }
        return text
    }

    private func append(
        _ content: UnsafePointer<xmlChar>?, to text: inout [UInt8], beyond length: Int
    ) throws(XML.Error) {
        guard let content else { return try spend(1) }
        let count = length == .max ? Int(xmlStrlen(content)) : strnlen(content, length - text.count + 1)
        try spend(forBytes: count)
        text.append(contentsOf: UnsafeBufferPointer(start: content, count: count))
    }
}

extension XML.XPathResult {
    /// The number that bytes are which have no NUL at their end.
    fileprivate static func number(in text: [UInt8]) -> Double {
        number(in: String(decoding: text, as: UTF8.self))
    }
}
