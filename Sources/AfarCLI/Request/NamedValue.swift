import Afar
import Foundation

/// A name and a value from the command line.
struct NamedValue: Equatable {
    var name: String
    var value: String

    /// Reads "name=value", where the value may hold more of "=".
    init(_ text: String, option: String) throws {
        guard let sign = text.firstIndex(of: "="), sign != text.startIndex else {
            throw Failure(.usage, "\(option) wants name=value, not \"\(text)\".")
        }
        name = String(text[..<sign])
        value = String(text[text.index(after: sign)...])
    }

    /// Reads "Name: value".
    init(header text: String) throws {
        guard let colon = text.firstIndex(of: ":"), colon != text.startIndex else {
            // What follows the name may be a secret.
            let name = text.prefix { $0.isLetter || $0.isNumber || "-_".contains($0) }
            throw Failure(.usage, "-H wants 'Name: value'\(name.isEmpty ? "" : ", as in '\(name): …'").")
        }
        name = text[..<colon].trimmingCharacters(in: .whitespaces)
        value = text[text.index(after: colon)...].trimmingCharacters(in: .whitespaces)
    }
}

extension [NamedValue] {
    /// "a=1&b=2", escaped, in order; a name may come several times.
    var urlEncoded: String {
        let encoding = URLEncoding.default
        return map { "\(encoding.escape($0.name))=\(encoding.escape($0.value))" }.joined(separator: "&")
    }
}
