import Foundation
import GRDB
import HTTPTypes

/// Header fields as text, a line each.
enum FieldLines {
    /// The most fields of a response. `HTTPFields` traps on more than 65,535, and responses from a cache get some of its own.
    static let limit = 65_000

    static func text(_ fields: HTTPFields) -> String {
        fields.map { "\($0.name.rawName): \($0.value)" }.joined(separator: "\n")
    }

    /// - Throws: Damage, if the lines are more than were ever stored.
    static func fields(_ text: String) throws -> HTTPFields {
        let lines = text.utf8.split(separator: UInt8(ascii: "\n"))
        guard lines.count <= limit else {
            throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "a response with \(lines.count) fields")
        }
        var fields = HTTPFields()
        for line in lines {
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")),
                let name = HTTPField.Name(String(Substring(line[..<colon])))
            else { continue }
            fields.append(HTTPField(name: name, value: String(Substring(line[colon...].dropFirst(2)))))
        }
        return fields
    }
}
