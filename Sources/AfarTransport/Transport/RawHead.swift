import Foundation
package import HTTPTypes

/// The raw lines of a response's head: a status line, then `name: value` lines, each ended by LF or CRLF.
package struct RawHead: Sendable {
    private let bytes: [UInt8]

    package init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    package func fields() -> HTTPFields {
        var fields = HTTPFields()
        forEachLine { name, value in
            guard let name = HTTPField.Name(String(decoding: name, as: UTF8.self)) else { return }
            fields.append(HTTPField(name: name, value: Self.text(value, of: name.canonicalName)))
        }
        return fields
    }

    /// Returns the values of the lines with a name, which must be in lower case.
    package func values(for lowercasedName: String) -> [String] {
        var values: [String] = []
        forEachValue(of: lowercasedName) { values.append(Self.text($0, of: lowercasedName)) }
        return values
    }

    /// Returns the same values together with their encoding.
    func texts(for lowercasedName: String) -> [FieldText] {
        var texts: [FieldText] = []
        forEachValue(of: lowercasedName) { texts.append(Self.text($0)) }
        return texts
    }

    private func forEachValue(of lowercasedName: String, _ body: (ArraySlice<UInt8>) -> Void) {
        forEachLine { name, value in
            let matches =
                name.count == lowercasedName.utf8.count
                && zip(name, lowercasedName.utf8).allSatisfy { $0.asciiLowercased == $1 }
            if matches { body(value) }
        }
    }

    /// Whether there is a line with a name, which must be in lower case. Doesn't allocate.
    func contains(_ lowercasedName: String) -> Bool {
        let (first, length) = (lowercasedName.utf8.first, lowercasedName.utf8.count)
        return bytes.withUnsafeBytes { buffer in
            var rest = buffer[...]
            while let end = rest.firstLineFeed {
                rest = rest[(end + 1)...]
                guard rest.count > length, rest[rest.startIndex].asciiLowercased == first,
                    rest[rest.startIndex + length] == 0x3A
                else { continue }
                if zip(rest, lowercasedName.utf8).allSatisfy({ $0.asciiLowercased == $1 }) { return true }
            }
            return false
        }
    }

    /// Calls `body` with the name and value of each field line. Values are trimmed and still contain obsolete folds.
    private func forEachLine(_ body: (ArraySlice<UInt8>, ArraySlice<UInt8>) -> Void) {
        var start = bytes.startIndex
        var isStatusLine = true
        while start < bytes.endIndex {
            var end = Self.endOfLine(in: bytes, from: start)
            // A line that begins with white space continues the one before (RFC 9112, section 5.2).
            while end < bytes.endIndex, bytes[end] == 0x20 || bytes[end] == 0x09 {
                end = Self.endOfLine(in: bytes, from: end)
            }
            let line = bytes[start..<end]
            if !isStatusLine, let colon = line.firstIndex(of: 0x3A) {
                body(line[..<colon], Self.trimmed(line[line.index(after: colon)...]))
            }
            isStatusLine = false
            start = end
        }
    }

    private static func endOfLine(in bytes: [UInt8], from start: Int) -> Int {
        bytes[start...].firstIndex(of: 0x0A).map { $0 + 1 } ?? bytes.endIndex
    }

    private static func trimmed(_ value: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let isSpace: (UInt8) -> Bool = { $0 == 0x20 || $0 == 0x09 || $0 == 0x0D || $0 == 0x0A }
        guard let first = value.firstIndex(where: { !isSpace($0) }),
            let last = value.lastIndex(where: { !isSpace($0) })
        else { return [] }
        return value[first...last]
    }

    private static func text(_ value: ArraySlice<UInt8>) -> FieldText {
        guard value.contains(where: { $0 == 0x0A || $0 == 0x0D }) else { return FieldText(value) }
        let lines = value.split { $0 == 0x0A || $0 == 0x0D }.map { trimmed($0) }
        return FieldText(Array(lines.joined(separator: CollectionOfOne(0x20))))
    }

    private static func text(_ value: ArraySlice<UInt8>, of lowercasedName: String) -> String {
        let text = text(value)
        let isReference = lowercasedName == "location" || lowercasedName == "content-location"
        return isReference ? text.reference : text.text
    }
}

extension Slice<UnsafeRawBufferPointer> {
    fileprivate var firstLineFeed: Int? {
        let bytes = UnsafeRawBufferPointer(rebasing: self)
        guard let start = bytes.baseAddress, let found = memchr(start, 0x0A, bytes.count) else { return nil }
        return startIndex + (UnsafeRawPointer(found) - start)
    }
}
