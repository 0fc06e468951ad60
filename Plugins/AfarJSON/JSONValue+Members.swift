import CJSONDocument
import Foundation

/// How an object's members are found.
extension JSONValue {
    /// The nodes of an object's keys.
    var keys: some Sequence<UInt32> {
        let end = end
        return sequence(state: node + 3) { [document] key -> UInt32? in
            guard key < end else { return nil }
            defer { key = document.end(of: key + 1) }
            return key
        }
    }

    /// The value behind a key's node.
    func member(_ key: UInt32) -> JSONValue {
        JSONValue(document: document, node: key + 1, parent: node, place: document.keyNumber(key))
    }

    /// The node of the key with a number, in an object in which no name stands twice.
    ///
    /// Types mostly ask for members in the order in which they stand; so the search begins at the one that was found last.
    func key(numbered number: UInt32) -> UInt32? {
        let container = document.container(node)
        let first = node + 3
        let mark = max(container.pointee.mark, first)
        guard let key = key(numbered: number, from: mark, to: end) ?? key(numbered: number, from: first, to: mark)
        else {
            return nil
        }
        container.pointee.mark = key
        return key
    }

    @inline(__always)
    private func key(numbered number: UInt32, from start: UInt32, to end: UInt32) -> UInt32? {
        var key = start
        while key < end {
            if document.keyNumber(key) == number { return key }
            key = document.end(of: key + 1)
        }
        return nil
    }

    // MARK: Where names may stand twice

    /// The keys' nodes by name.
    typealias Index = [String: UInt32]

    /// Makes an index of an object's members, if a name stands twice in it, or may do so when it is converted. Returns which
    /// one of the document's it is, or -1.
    ///
    /// - Throws: `DecodingError.dataCorrupted` for an object in which a name stands twice, if that is refused.
    func makeIndex() throws -> Int32 {
        guard document.namesNeedIndex || document.hasDuplicates(node) else { return -1 }
        let details = document.details
        var index: Index = [:]
        index.reserveCapacity(count)
        let path = path
        for key in keys {
            let name = details.names.name(document.keyNumber(key), at: path)
            guard index[name] != nil else {
                index[name] = key
                continue
            }
            switch details.options.duplicateKeyStrategy {
            case .useFirst: break
            case .useLast: index[name] = key
            case .refuse: throw duplicate(name, key)
            }
        }
        details.indexes.append(index)
        return Int32(details.indexes.count - 1)
    }
}
