import Foundation

/// The header Content-Disposition (RFC 6266), as far as it names a file.
package struct ContentDisposition {
    /// The names as the server wrote them, decoded, the preferred one first. They may contain anything.
    package let fileNames: [String]

    package init(_ value: String) {
        let parameters = Self.parameters(value)
        // The extended form is preferred (RFC 6266, section 4.3).
        fileNames = [parameters["filename*"].flatMap(Self.extendedValue), parameters["filename"]].compactMap { $0 }
    }

    /// What follows the disposition's type. The first of a name counts.
    private static func parameters(_ value: String) -> [String: String] {
        var scanner = FieldScanner(value)
        var parameters: [String: String] = [:]
        while let parameter = scanner.parameter() {
            if parameters[parameter.name] == nil { parameters[parameter.name] = parameter.value }
        }
        return parameters
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
            guard let high = rest.popFirst()?.hexDigitValue, let low = rest.popFirst()?.hexDigitValue else {
                return nil
            }
            bytes.append(high << 4 | low)
        }
        return bytes
    }
}
