import Foundation

/// The boundary of a multipart body (RFC 2046, section 5.1.1). It differs for each request.
struct MultipartBoundary {
    /// The longest boundary that is accepted, in bytes. The standard permits 70.
    private static let longest = 200

    private typealias Bytes = ArraySlice<UInt8>

    private let text: [UInt8]

    /// Returns `nil` if the type has no boundary, several boundaries or an invalid one.
    init?(_ type: String) {
        let values = HeaderParameters.values(of: "boundary", in: type)
        guard HAR.Redaction.isMultipart(type), values.count == 1, !values[0].isEmpty,
            values[0].utf8.count <= Self.longest
        else { return nil }
        text = Array(values[0].utf8)
    }

    /// Returns the body without any occurrence of the boundary.
    func removed(from body: Data) -> Data {
        let body = Array(body)
        var result: [UInt8] = []
        var index = 0
        while index < body.count {
            if body[index...].starts(with: text) {
                index += text.count
            } else {
                result.append(body[index])
                index += 1
            }
        }
        return Data(result)
    }

    /// Returns the body with each part's content changed. The boundaries and part headers stay the same.
    ///
    /// Lines can end with LF instead of CRLF.
    ///
    /// - Parameters:
    ///   - body: The body.
    ///   - rest: Changes the text before the first part and after the last one, if it isn't blank.
    ///   - part: Changes the content of a part.
    /// - Returns: The body, or `nil` if it can't be split into parts with certainty.
    func changed(
        _ body: Data, around rest: (Data) -> Data, part: (_ head: String, _ content: Data) -> Data
    ) -> Data? {
        func outside(_ text: Bytes) -> Data { text.contains { $0 > 0x20 } ? rest(Data(text)) : Data(text) }
        let body = Array(body)
        guard let delimiters = delimiters(in: body), let first = delimiters.first else { return nil }
        var result = Array(outside(body[..<first.line.lowerBound]))
        for (index, delimiter) in delimiters.enumerated() {
            result += body[delimiter.line]
            let isLast = index == delimiters.count - 1
            let end = isLast ? body.count : delimiters[index + 1].line.lowerBound
            let piece = body[delimiter.line.upperBound..<end]
            if delimiter.isClosing {
                result += outside(piece)
            } else {
                guard let contentStart = Self.contentStart(of: piece) else { return nil }
                let content = isLast ? piece[contentStart...] : Self.withoutNewline(piece[contentStart...])
                result += piece[..<contentStart]
                result += part(String(decoding: piece[..<contentStart], as: UTF8.self), Data(content))
                result += piece[content.endIndex...]
            }
        }
        return Data(result)
    }

    // MARK: Delimiters

    private struct Delimiter {
        /// The bytes of the line, including its end.
        var line: Range<Int>
        var isClosing: Bool
    }

    /// Returns the delimiter lines up to the closing one, or `nil` if a line begins like a delimiter but isn't one.
    private func delimiters(in body: [UInt8]) -> [Delimiter]? {
        let beginning = Array("--".utf8) + text
        var delimiters: [Delimiter] = []
        var rest = body[...]
        while !rest.isEmpty {
            let start = rest.startIndex
            guard rest.starts(with: beginning) else {
                rest = rest[(rest.firstIndex(of: Self.lineFeed).map { $0 + 1 } ?? rest.endIndex)...]
                continue
            }
            rest = rest.dropFirst(beginning.count)
            let isClosing = rest.starts(with: "--".utf8)
            if isClosing { rest = rest.dropFirst(2) }
            rest = rest.drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
            let newline = Self.newline(at: rest)
            guard newline > 0 || rest.isEmpty else { return nil }
            rest = rest.dropFirst(newline)
            delimiters.append(Delimiter(line: start..<rest.startIndex, isClosing: isClosing))
            if isClosing { break }
        }
        return delimiters
    }

    // MARK: Lines

    private static let lineFeed = UInt8(ascii: "\n")

    /// Returns the length of the line end with which the bytes begin, or 0.
    private static func newline(at bytes: Bytes) -> Int {
        bytes.first == lineFeed ? 1 : bytes.starts(with: "\r\n".utf8) ? 2 : 0
    }

    private static func withoutNewline(_ bytes: Bytes) -> Bytes {
        bytes.last == lineFeed ? bytes.dropLast(bytes.suffix(2).elementsEqual("\r\n".utf8) ? 2 : 1) : bytes
    }

    /// Returns the index after the empty line that ends the head of a part.
    private static func contentStart(of part: Bytes) -> Int? {
        var line = part
        while true {
            let newline = newline(at: line)
            if newline > 0 { return line.startIndex + newline }
            guard let end = line.firstIndex(of: lineFeed) else { return nil }
            line = line[(end + 1)...]
        }
    }
}

/// The parameters of a header field (RFC 9110, section 5.6.6).
enum HeaderParameters {
    /// Returns the values of all parameters with a name, which is case-insensitive.
    static func values(of name: String, in field: String) -> [String] {
        var values: [String] = []
        var rest = Array(field.utf8)[...]
        while let semicolon = rest.firstIndex(of: UInt8(ascii: ";")) {
            rest = rest[(semicolon + 1)...]
            let label = rest.prefix { $0 != UInt8(ascii: "=") && $0 != UInt8(ascii: ";") }
            rest = rest[label.endIndex...]
            guard rest.first == UInt8(ascii: "=") else { continue }
            let value = value(&rest)
            let isNamed =
                String(decoding: label, as: UTF8.self).trimmingCharacters(in: .whitespaces).lowercased() == name
            if isNamed { values.append(value) }
        }
        return values
    }

    /// Reads the value after an equals sign.
    private static func value(_ rest: inout ArraySlice<UInt8>) -> String {
        rest = rest.dropFirst().drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
        guard rest.first == UInt8(ascii: "\"") else {
            let value = rest.prefix { $0 != UInt8(ascii: ";") }
            rest = rest[value.endIndex...]
            return String(decoding: value, as: UTF8.self).trimmingCharacters(in: .whitespaces)
        }
        rest.removeFirst()
        var value: [UInt8] = []
        while let byte = rest.popFirst(), byte != UInt8(ascii: "\"") {
            let isEscape =
                byte == UInt8(ascii: "\\") && (rest.first == UInt8(ascii: "\"") || rest.first == UInt8(ascii: "\\"))
            value.append(isEscape ? rest.removeFirst() : byte)
        }
        return String(decoding: value, as: UTF8.self)
    }
}
