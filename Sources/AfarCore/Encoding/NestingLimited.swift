/// A value that is encoded within a limit.
struct NestingLimited: Encodable {
    private let value: any Encodable
    private let limit: NestingLimit

    init(_ value: any Encodable, _ limit: NestingLimit) {
        self.value = value
        self.limit = limit
    }

    func encode(to encoder: any Encoder) throws {
        try limit.enter(at: encoder.codingPath)
        defer { limit.leave() }
        if let known = try limit.known(value, at: encoder.codingPath) {
            var container = encoder.singleValueContainer()
            try container.encode(known)
        } else {
            try value.encode(to: NestingLimitEncoder(base: encoder, limit: limit))
        }
    }
}

/// Hands an encoder's containers out with a limit in them. Without an encoder they write nothing.
struct NestingLimitEncoder: Encoder {
    let base: (any Encoder)?
    let limit: NestingLimit

    var codingPath: [any CodingKey] { base?.codingPath ?? [] }
    var userInfo: [CodingUserInfoKey: Any] { limit.userInfo }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(
            NestingLimitKeyedContainer(limit.inContainer(at: codingPath)) { base?.container(keyedBy: type) })
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        NestingLimitUnkeyedContainer(limit.inContainer(at: codingPath)) { base?.unkeyedContainer() }
    }

    func singleValueContainer() -> any SingleValueEncodingContainer {
        NestingLimitSingleValueContainer(base: base?.singleValueContainer(), limit: limit)
    }
}
