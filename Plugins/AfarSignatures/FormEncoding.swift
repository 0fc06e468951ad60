/// The parameters of a query, as HTML forms encode them.
enum FormEncoding {
    /// Returns the name and value of each parameter without escapes. A plus sign is a space.
    static func parameters(in query: some Collection<UInt8>) -> [(name: [UInt8], value: [UInt8])] {
        query.split(separator: UInt8(ascii: "&")).map { parameter in
            let end = parameter.firstIndex(of: UInt8(ascii: "=")) ?? parameter.endIndex
            return (decoded(parameter[..<end]), decoded(parameter[end...].dropFirst()))
        }
    }

    private static func decoded(_ text: some Collection<UInt8>) -> [UInt8] {
        PercentEncoding.decoded(text.map { $0 == UInt8(ascii: "+") ? UInt8(ascii: " ") : $0 })
    }

    /// Encodes all bytes except ASCII letters, digits, `*`, `-`, `.` and `_` (RFC 9421, section 2.2.8). A space becomes `%20`.
    static func encoded(_ bytes: [UInt8]) -> String {
        // Invalid UTF-8 is replaced, as the URL standard requires.
        let bytes = Array(String(decoding: bytes, as: UTF8.self).utf8)
        return String(decoding: PercentEncoding.encoded(bytes, keeping: "*-._"), as: UTF8.self)
    }
}
