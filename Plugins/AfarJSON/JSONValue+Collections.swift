import Foundation

extension Array: DirectlyDecodable where Element: Decodable {
    static func decode(_ value: JSONValue) throws -> [Element] {
        // What is known once for all elements.
        if Element.self == String.self { return unsafeBitCast(try value.elements { try $0.string() }, to: Self.self) }
        if Element.self == Int.self {
            return unsafeBitCast(try value.elements { try $0.integer(Int.self) }, to: Self.self)
        }
        if Element.self == Double.self { return unsafeBitCast(try value.elements { try $0.double() }, to: Self.self) }
        guard let direct = value.document.direct(Element.self) else {
            return try value.elements { try Element(from: ValueDecoder($0)) }
        }
        return try value.elements { try $0.decode(direct, as: Element.self) }
    }
}

/// Dictionaries whose keys are data, not names of members, so that no strategy converts them.
extension Dictionary: DirectlyDecodable where Key == String, Value: Decodable {
    static func decode(_ value: JSONValue) throws -> [String: Value] {
        try value.require(value.isObject, Self.self)
        let (document, names) = (value.document, value.document.details.names)
        document.setDictionary(value.node)
        guard !document.namesAreEqualByBytes || document.hasDuplicates(value.node) else {
            var dictionary: [String: Value] = [:]
            dictionary.reserveCapacity(value.capacity(for: (String, Value).self))
            for key in value.keys {
                dictionary[names.written(document.keyNumber(key))] = try value.member(key).decode(Value.self)
            }
            return dictionary
        }
        try value.checkNames { names.written(document.keyNumber($0)) }
        return try value.writtenIndex.mapValues { try value.member($0).decode(Value.self) }
    }
}

extension JSONValue {
    /// An array's elements, each read.
    @inline(__always)
    fileprivate func elements<Element>(_ read: (JSONValue) throws -> Element) throws -> [Element] {
        try require(isArray, [Element].self)
        var elements: [Element] = []
        elements.reserveCapacity(capacity(for: Element.self))
        var element = node + 3
        for index in 0..<UInt32(count) {
            elements.append(try read(JSONValue(document: document, node: element, parent: node, place: index)))
            element = document.end(of: element)
        }
        return elements
    }

    /// For how many elements room is made before the first is there. A document of a few bytes for each could ask for much
    /// more than it has.
    fileprivate func capacity<Element>(for type: Element.Type) -> Int {
        min(count, (64 << 10) / max(1, MemoryLayout<Element>.stride))
    }
}
