import Foundation

/// Turns the tree that a value has encoded itself into into text.
struct FormSerializer {
    private let options: URLEncodedFormEncoder
    private let unescaped: CharacterSet

    init(options: URLEncodedFormEncoder) {
        self.options = options
        unescaped = options.allowedCharacters.union(CharacterSet(charactersIn: " "))
    }

    /// The text of a whole tree.
    ///
    /// - Throws: `URLEncodedFormEncoder.Error.invalidRootObject` if its root is not an object.
    func text(of root: FormNode) throws -> String {
        switch root.content {
        case .nothing: return ""
        case .object(let fields): return text(of: fields) { options.keyEncoding.encode($0) } ?? ""
        case .text: throw URLEncodedFormEncoder.Error.invalidRootObject("a single value")
        case .list: throw URLEncodedFormEncoder.Error.invalidRootObject("an array")
        }
    }

    /// The pairs of a node that has this key, nil if there are none.
    private func text(of node: FormNode, key: String) -> String? {
        switch node.content {
        case .nothing: nil
        case .text(let text): "\(escape(key))=\(escape(text))"
        case .list(let nodes): text(of: nodes, key: key)
        case .object(let fields):
            text(of: fields) { key + options.keyPathEncoding.encodeKeyPath(options.keyEncoding.encode($0)) }
        }
    }

    private func text(of fields: FormNode.Fields, path: (_ key: String) -> String) -> String? {
        let parts = fields.entries.compactMap { text(of: $0.node, key: path($0.key)) }
        return joined(options.alphabetizeKeyValuePairs ? parts.sorted() : parts)
    }

    private func text(of nodes: [FormNode], key: String) -> String? {
        var index = 0
        return joined(
            nodes.compactMap { node in
                // An element that leaves no trace takes no index either.
                let part = text(of: node, key: options.arrayEncoding.encode(key, atIndex: index))
                if part != nil { index += 1 }
                return part
            }
        )
    }

    private func joined(_ parts: [String]) -> String? {
        parts.isEmpty ? nil : parts.joined(separator: "&")
    }

    private func escape(_ text: String) -> String {
        let escaped = text.addingPercentEncoding(withAllowedCharacters: unescaped) ?? text
        return escaped.replacing(" ", with: options.spaceEncoding.text)
    }
}
