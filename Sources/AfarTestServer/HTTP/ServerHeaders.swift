/// Header fields in the order in which they travel; names match without regard to case, repeats are kept.
public struct ServerHeaders: Sendable, Equatable, ExpressibleByDictionaryLiteral {
    /// One header line.
    public struct Field: Sendable, Equatable {
        /// The name, spelled as it was sent.
        public let name: String
        /// The value, without the white space around it.
        public let value: String
    }

    /// All lines in order.
    public private(set) var fields: [Field] = []

    /// Makes headers from pairs; a repeated name makes repeated lines.
    public init(dictionaryLiteral elements: (String, String)...) {
        elements.forEach { append($0.0, $0.1) }
    }

    /// The value of a header, repeats joined by `", "`; setting replaces all lines of that name, `nil` removes them.
    public subscript(name: String) -> String? {
        get {
            let values = values(of: name)
            return values.isEmpty ? nil : values.joined(separator: ", ")
        }
        set {
            fields.removeAll { $0.name.lowercased() == name.lowercased() }
            if let newValue { append(name, newValue) }
        }
    }

    /// The values of all lines of one name, in order.
    public func values(of name: String) -> [String] {
        let name = name.lowercased()
        return fields.filter { $0.name.lowercased() == name }.map(\.value)
    }

    /// Adds a line, also when the name is there already. Control characters, which would end the line, become spaces.
    public mutating func append(_ name: String, _ value: String) {
        fields.append(Field(name: Self.clean(name), value: Self.clean(value)))
    }

    private static func clean(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: { $0.value < 32 && $0 != "\t" }) else { return text }
        return String(text.unicodeScalars.map { $0.value < 32 ? " " : Character($0) })
    }

    /// The comma-separated members of a header, lowercased.
    func tokens(_ name: String) -> [String] {
        (self[name] ?? "").lowercased().split(separator: ",").map { String($0.trimmingSpaces) }
    }
}

extension StringProtocol {
    var trimmingSpaces: SubSequence {
        let isSpace = { (character: Character) in character == " " || character == "\t" }
        let start = self[...].drop(while: isSpace)
        guard let last = start.lastIndex(where: { !isSpace($0) }) else { return start }
        return start[...last]
    }
}
