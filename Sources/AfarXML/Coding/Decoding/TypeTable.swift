/// What is known of types. Most values have few, which are found without hashing them.
struct TypeTable<Value> {
    private var recent: [(type: ObjectIdentifier, value: Value)?] = Array(repeating: nil, count: 32)
    private var all: [ObjectIdentifier: Value] = [:]

    /// What is known of a type that was asked for not long ago.
    @inline(__always)
    func recentValue(for type: ObjectIdentifier) -> Value? {
        guard let entry = recent[Self.slot(of: type)], entry.type == type else { return nil }
        return entry.value
    }

    mutating func value(for type: ObjectIdentifier, make: () -> Value) -> Value {
        let value = all[type] ?? make()
        all[type] = value
        recent[Self.slot(of: type)] = (type, value)
        return value
    }

    @inline(__always)
    private static func slot(of type: ObjectIdentifier) -> Int {
        // By the address: its lowest bits are the same for all.
        Int(truncatingIfNeeded: (UInt64(UInt(bitPattern: type)) &* 0x9E37_79B9_7F4A_7C15) >> 59)
    }
}
