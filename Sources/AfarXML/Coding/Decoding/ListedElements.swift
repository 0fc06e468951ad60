import CLibxml2

/// The elements of a list.
struct ListedElements: UnkeyedDecodingContainer {
    private let list: ElementDecoder
    private let walk: Walk
    private var next: Place?
    private(set) var currentIndex = 0

    init(_ list: ElementDecoder) {
        self.list = list
        walk = Walk(list)
        next = walk.first
    }

    var codingPath: [any CodingKey] { list.codingPath }
    var isAtEnd: Bool { next == nil }

    var count: Int? {
        if let count = list.listCount { return count }
        var count = currentIndex
        var rest = next
        while let place = rest {
            count += 1
            rest = walk.after(place, at: count)
        }
        list.listCount = count
        return count
    }

    mutating func decodeNil() throws -> Bool {
        guard let place = next else { throw end(Any?.self) }
        guard place.isNil else { return false }
        advance(place)
        return true
    }

    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        guard let place = next else { throw end(type) }
        let value = try list.decoding.value(type, at: place, inside: list, key: XMLKey(intValue: currentIndex))
        advance(place)
        return value
    }

    mutating func decode(_ type: Int128.Type) throws -> Int128 { try takeNext(type).decode(type) }
    mutating func decode(_ type: UInt128.Type) throws -> UInt128 { try takeNext(type).decode(type) }

    mutating func nestedContainer<NestedKey: CodingKey>(
        keyedBy keyType: NestedKey.Type
    ) throws -> KeyedDecodingContainer<NestedKey> {
        try takeNext([String: Any].self).container(keyedBy: keyType)
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try takeNext([Any].self).unkeyedContainer()
    }

    mutating func superDecoder() throws -> any Decoder { try takeNext(Any.self) }

    private mutating func takeNext(_ type: any Any.Type) throws -> ElementDecoder {
        guard let place = next else { throw end(type) }
        let decoder = list.inner(place, XMLKey(intValue: currentIndex))
        advance(place)
        return decoder
    }

    private mutating func advance(_ place: Place) {
        currentIndex += 1
        next = walk.after(place, at: currentIndex)
    }

    private func end(_ type: any Any.Type) -> DecodingError {
        list.decoding.failure(
            "The list has only \(currentIndex) elements", at: list.place, { .valueNotFound(type, $0) },
            codingPath + [XMLKey(intValue: currentIndex)])
    }
}
