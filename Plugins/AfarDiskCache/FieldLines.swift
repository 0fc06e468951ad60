import Foundation
import HTTPTypes

/// Header fields as text, a line each.
enum FieldLines {
    static func text(_ fields: HTTPFields) -> String {
        fields.map { "\($0.name.rawName): \($0.value)" }.joined(separator: "\n")
    }

    static func fields(_ text: String) -> HTTPFields {
        var fields = HTTPFields()
        for line in text.utf8.split(separator: UInt8(ascii: "\n")) {
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")),
                let name = HTTPField.Name(String(Substring(line[..<colon])))
            else { continue }
            fields.append(HTTPField(name: name, value: String(Substring(line[colon...].dropFirst(2)))))
        }
        return fields
    }
}
