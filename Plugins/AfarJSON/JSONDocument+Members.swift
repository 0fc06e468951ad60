import CJSONDocument
import Foundation

extension JSONDocument {
    /// The members of an object by name, where comparing one by one does not do: two of them have one name.
    typealias Index = [String: UInt32]

    /// An index of an object's members, if it needs one.
    ///
    /// - Throws: `DecodingError.dataCorrupted` for an object in which a name stands twice, if that is refused.
    func index(of object: JSONValue) throws -> Index? {
        if container(object.node).pointee.count & afar_json_has_duplicates != 0 { return try makeIndex(of: object) }
        guard case .byIndex = names.comparison, !object.keepsKeys else { return nil }
        return try makeIndex(of: object)
    }

    private func makeIndex(of object: JSONValue) throws -> Index {
        var index: Index = [:]
        index.reserveCapacity(count(of: object.node))
        let path = object.keepsKeys ? [] : path(to: object)
        for key in keys(of: object.node) {
            let number = keyNumber(key)
            let name = object.keepsKeys ? names.written(number) : names.name(number, at: path)
            guard let earlier = index[name] else {
                index[name] = key
                continue
            }
            switch options.duplicateKeyStrategy {
            case .useFirst: break
            case .useLast: index[name] = key
            case .refuse: throw duplicateKey(name, at: key, earlier, in: object)
            }
        }
        return index
    }

    /// The nodes of an object's keys.
    func keys(of object: UInt32) -> some Sequence<UInt32> {
        let end = nodes[Int(object)].extent
        return sequence(state: object + 3) { [self] key -> UInt32? in
            guard key < end else { return nil }
            defer { key = self.end(of: key + 1) }
            return key
        }
    }

    /// The node of the key with a name, in an object whose names are all different.
    ///
    /// Types mostly ask for members in the order in which they stand; so the search begins at the one that was found last.
    func key(named name: String, of object: JSONValue) -> UInt32? {
        guard case .converted(let converted) = names.comparison, !object.keepsKeys else {
            var name = name
            return name.withUTF8 { name in
                search(object.node) { key in
                    let key = keys[Int(key)]
                    guard key.length == name.count, let start = name.baseAddress else { return key.length == name.count }
                    return memcmp(key.name, start, name.count) == 0
                }
            }
        }
        return search(object.node) { converted[Int($0)] == name }
    }

    @inline(__always)
    private func search(_ object: UInt32, _ isWanted: (UInt32) -> Bool) -> UInt32? {
        let container = container(object)
        let first = object + 3
        let end = container.pointee.node.extent
        let mark = container.pointee.mark == 0 ? first : container.pointee.mark
        var key = mark
        while key < end {
            if isWanted(nodes[Int(key)].extent) {
                container.pointee.mark = key
                return key
            }
            key = self.end(of: key + 1)
        }
        key = first
        while key < mark {
            if isWanted(nodes[Int(key)].extent) {
                container.pointee.mark = key
                return key
            }
            key = self.end(of: key + 1)
        }
        return nil
    }
}
