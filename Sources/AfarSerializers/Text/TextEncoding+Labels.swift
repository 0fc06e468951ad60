import AfarCharsets
import AfarCore

extension TextEncoding {
    /// The encoding that a label means, as browsers read labels: by the table of the Encoding Standard (section 4.2),
    /// whatever the case, white space around the label left out.
    ///
    /// `utf-32`, `utf-32be` and `utf-32le` are known too. Nil for a label that means nothing.
    public init?(label: String) {
        let spaces: [UInt8] = [0x09, 0x0A, 0x0C, 0x0D, 0x20]
        guard let first = label.utf8.firstIndex(where: { !spaces.contains($0) }),
            let last = label.utf8.lastIndex(where: { !spaces.contains($0) }),
            let kind = Self.kinds[String(label[first...last]).asciiLowercased]
        else { return nil }
        self.init(kind)
    }

    private static let kinds: [String: Kind] = {
        var kinds: [String: Kind] = [
            "utf-32": .utf32BigEndian, "utf-32be": .utf32BigEndian, "utf-32le": .utf32LittleEndian,
        ]
        for line in EncodingLabels.lines.split(separator: "\n") {
            let words = line.split(separator: " ").map(String.init)
            guard let name = words.first, let kind = Kind(rawValue: name) else { continue }
            for label in words.dropFirst() { kinds[label] = kind }
        }
        return kinds
    }()
}
