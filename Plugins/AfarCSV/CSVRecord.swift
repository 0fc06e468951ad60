/// The bytes of a row, and where its fields lie in them.
struct CSVRecord: Sendable {
    struct Field: Sendable {
        let range: Range<Int>
        let isQuoted: Bool
    }

    /// Fields without quotation marks around them and with those inside them, and delimiters.
    var bytes: [UInt8] = []
    var fields: [Field] = []
    /// Where it begins.
    var line = 1

    /// Whether there is nothing in it.
    var isEmpty: Bool { fields.count == 1 && fields[0].range.isEmpty && !fields[0].isQuoted }

    /// Empties it, and keeps the memory for the next row unless somebody has this one.
    mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        fields.removeAll(keepingCapacity: true)
    }
}
