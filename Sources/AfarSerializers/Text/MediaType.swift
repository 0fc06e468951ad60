/// What a Content-Type says of text: the type, in lower case, and its charset.
struct MediaType {
    /// "text/html" say; empty when there is none.
    let essence: String
    /// The charset as it stands there, unquoted; nil when there is none.
    let charset: String?

    /// Reads the value of a Content-Type (RFC 9110, section 8.3.1), and whatever else servers write there.
    init(_ value: String?) {
        var scanner = Substring(value ?? "")
        essence = scanner.take { $0 != ";" && $0 != "," }.trimmed.asciiLowercased
        while scanner.popFirst() == ";" {
            let name = scanner.take { $0 != "=" && $0 != ";" && $0 != "," }.trimmed
            guard scanner.first == "=" else { continue }
            scanner.removeFirst()
            let value = scanner.takeParameterValue()
            if name.asciiLowercased == "charset", !value.isEmpty {
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

extension Substring {
    fileprivate mutating func take(while isWanted: (Character) -> Bool) -> Substring {
        let taken = prefix(while: isWanted)
        self = self[taken.endIndex...]
        return taken
    }

    /// A token or a quoted string (RFC 9110, section 5.6.4). Single quotes are no quotes there, but are written too.
    fileprivate mutating func takeParameterValue() -> String {
        _ = take { $0 == " " || $0 == "\t" }
        guard first == "\"" else {
            let token = take { $0 != ";" && $0 != "," }.trimmed
            return String(token.first == "'" && token.last == "'" ? token.dropFirst().dropLast() : token)
        }
        removeFirst()
        var value = ""
        while let character = popFirst(), character != "\"" {
            value.append(character == "\\" ? popFirst() ?? character : character)
        }
        _ = take { $0 != ";" && $0 != "," }
        return String(value[...].trimmed)
    }

    fileprivate var trimmed: Substring {
        let isSpace: (Character) -> Bool = { $0 == " " || $0 == "\t" }
        guard let last = lastIndex(where: { !isSpace($0) }) else { return "" }
        return self[...last].drop(while: isSpace)
    }
}
