import Foundation

/// The header Content-Disposition (RFC 6266), as far as it names a file.
package struct ContentDisposition {
    /// The name as the server wrote it, decoded; it may hold anything.
    package let fileName: String?

    package init(_ value: String) {
        let parameters = Self.parameters(value)
        // The extended form is the one to take where both are there (RFC 6266, section 4.3).
        fileName = parameters["filename*"].flatMap(Self.extendedValue) ?? parameters["filename"]
    }

    /// What follows the disposition's type: "; name=value", the value a token or in quotes. The first of a name counts.
    private static func parameters(_ value: String) -> [String: String] {
        var parameters: [String: String] = [:]
        var rest = value.drop { $0 != ";" }.dropFirst()
        while !rest.isEmpty {
            let name = rest.prefix { $0 != "=" && $0 != ";" }
            rest = rest[name.endIndex...]
            var text = ""
            if rest.first == "=" {
                rest = rest.dropFirst().drop { $0.isWhitespace }
                text = rest.first == "\"" ? quoted(&rest) : token(&rest)
            }
            let key = name.trimmingCharacters(in: .whitespaces).lowercased()
            if parameters[key] == nil { parameters[key] = text }
            rest = rest.drop { $0 != ";" }.dropFirst()
        }
        return parameters
    }

    private static func token(_ rest: inout Substring) -> String {
        let token = rest.prefix { $0 != ";" }
        rest = rest[token.endIndex...]
        return token.trimmingCharacters(in: .whitespaces)
    }

    /// A string in quotes, where a backslash takes the next character as it is.
    private static func quoted(_ rest: inout Substring) -> String {
        rest = rest.dropFirst()
        var text = ""
        while let character = rest.popFirst(), character != "\"" {
            if character == "\\", let next = rest.popFirst() {
                text.append(next)
            } else {
                text.append(character)
            }
        }
        return text
    }

    /// "UTF-8'en'%e2%82%ac%20rates" (RFC 8187, section 3.2); nil in a charset that is none of its two, or in none.
    private static func extendedValue(_ value: String) -> String? {
        let parts = value.split(separator: "'", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, let bytes = percentDecoded(parts[2]) else { return nil }
        switch parts[0].lowercased() {
        case "utf-8": return String(bytes: bytes, encoding: .utf8)
        case "iso-8859-1": return String(bytes: bytes, encoding: .isoLatin1)
        default: return nil
        }
    }

    private static func percentDecoded(_ text: Substring) -> [UInt8]? {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let digits = String(rest.prefix(2)), digits.utf8.count == 2, digits.allSatisfy(\.isHexDigit),
                let value = UInt8(digits, radix: 16)
            else { return nil }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        return bytes
    }
}
