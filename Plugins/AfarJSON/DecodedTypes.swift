import CJSONDocument

/// The numbers that keys have in a document, by their bytes.
typealias KeyNumbers = UnsafeMutablePointer<UInt32>

/// What was found out about the types that are decoded. It is kept from document to document.
struct DecodedTypes {
    private struct Entry {
        let type: ObjectIdentifier
        let direct: (any DirectlyDecodable.Type)?
        /// Of a type of keys, their numbers in the document of the generation.
        var numbers: KeyNumbers?
        var generation: UInt32 = 0
    }

    /// A hash table that is half empty at least. Types beyond that are not kept.
    private let entries: UnsafeMutablePointer<Entry?>
    private var count = 0

    private static let capacity = 256

    /// The number of a key that was not looked up yet. No document has so many keys.
    static let unknown = afar_json_no_key - 1

    init() {
        entries = .allocate(capacity: Self.capacity)
        entries.initialize(repeating: nil, count: Self.capacity)
    }

    /// How values of a type are decoded, if not by the type's own way.
    mutating func direct<T>(_ type: T.Type) -> (any DirectlyDecodable.Type)? {
        guard let entry = entry(of: type) else { return type as? any DirectlyDecodable.Type }
        return entry.pointee?.direct
    }

    /// The numbers of a type's keys; nil if there may be more than 256 of them. A key of one byte has no other name than the
    /// one that this byte stands for.
    mutating func numbers<Key: CodingKey>(of type: Key.Type, _ generation: UInt32) -> KeyNumbers? {
        guard MemoryLayout<Key>.size <= 1, let entry = entry(of: type) else { return nil }
        if let numbers = entry.pointee?.numbers, entry.pointee?.generation == generation { return numbers }
        let numbers = entry.pointee?.numbers ?? .allocate(capacity: 256)
        numbers.update(repeating: Self.unknown, count: 256)
        entry.pointee?.numbers = numbers
        entry.pointee?.generation = generation
        return numbers
    }

    /// A type's entry; nil when there are too many.
    private mutating func entry<T>(of type: T.Type) -> UnsafeMutablePointer<Entry?>? {
        let identifier = ObjectIdentifier(type)
        // Metadata lies at addresses that are multiples of 8.
        var index = Int(bitPattern: identifier) >> 3
        while let entry = entries[index & (Self.capacity - 1)] {
            if entry.type == identifier { return entries + index & (Self.capacity - 1) }
            index += 1
        }
        guard count < Self.capacity / 2 else { return nil }
        count += 1
        entries[index & (Self.capacity - 1)] = Entry(type: identifier, direct: type as? any DirectlyDecodable.Type)
        return entries + index & (Self.capacity - 1)
    }
}
