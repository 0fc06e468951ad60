/// What a Content-Type says of text: the type, in lower case, and its charset.
struct MediaType {
    /// "text/html" say; empty when there is none.
    let essence: String
    /// The charset as it stands there, unquoted; nil when there is none.
    let charset: String?

    /// Reads the value of a Content-Type (RFC 9110, section 8.3.1), and whatever else servers write there.
    init(_ value: String?) {
        var rest = (value ?? "")[...].utf8
        essence = rest.take { $0 != semicolon && $0 != comma }.trimmed.text.asciiLowercased
        while rest.popFirst() == semicolon {
            let name = rest.take { $0 != equalsSign && $0 != semicolon && $0 != comma }.trimmed
            guard rest.first == equalsSign else { continue }
            rest.removeFirst()
            let value = rest.takeParameterValue()
            if !value.isEmpty, name.text.asciiLowercased == "charset" {
                charset = value
                return
            }
        }
        charset = nil
    }

    var isJSON: Bool { essence.hasSuffix("+json") || essence == "application/json" || essence == "text/json" }
    var isHTML: Bool { essence == "text/html" }
    var isXML: Bool { essence.hasSuffix("+xml") || essence == "application/xml" || essence == "text/xml" }
}

private let comma = UInt8(ascii: ",")
private let semicolon = UInt8(ascii: ";")
private let equalsSign = UInt8(ascii: "=")
private let doubleQuote = UInt8(ascii: "\"")
private let singleQuote = UInt8(ascii: "'")

extension Substring.UTF8View {
    fileprivate mutating func take(while isWanted: (UInt8) -> Bool) -> Substring.UTF8View {
        let taken = prefix(while: isWanted)
        self = self[taken.endIndex...]
        return taken
    }

    /// A token or a quoted string (RFC 9110, section 5.6.4). Single quotes are no quotes there, but are written too.
    fileprivate mutating func takeParameterValue() -> String {
        _ = take { $0 == 0x20 || $0 == 0x09 }
        guard first == doubleQuote else {
            let token = take { $0 != semicolon && $0 != comma }.trimmed
            let isQuoted = token.count >= 2 && token.first == singleQuote && token.last == singleQuote
            return (isQuoted ? token.dropFirst().dropLast() : token).text
        }
        removeFirst()
        var value: [UInt8] = []
        while let byte = popFirst(), byte != doubleQuote {
            value.append(byte == UInt8(ascii: "\\") ? popFirst() ?? byte : byte)
        }
        _ = take { $0 != semicolon && $0 != comma }
        return String(decoding: value, as: UTF8.self)
    }

    fileprivate var trimmed: Substring.UTF8View {
        guard let last = lastIndex(where: { $0 != 0x20 && $0 != 0x09 }) else { return prefix(0) }
        return self[...last].drop { $0 == 0x20 || $0 == 0x09 }
    }

    fileprivate var text: String { String(decoding: self, as: UTF8.self) }
}
