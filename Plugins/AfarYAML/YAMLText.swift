import Foundation

/// The text of a YAML document, whose encoding shows in its first bytes (YAML 1.2.2, section 5.2).
enum YAMLText {
    /// - Throws: `DecodingError.dataCorrupted` when the bytes are not of their encoding.
    static func text(of data: Data) throws -> String {
        let (encoding, name) = encoding(of: Array(data.prefix(4)))
        guard let text = String(data: data, encoding: encoding) else {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(codingPath: [], debugDescription: "The document is not valid \(name)."))
        }
        return text.first == "\u{FEFF}" ? String(text.dropFirst()) : text
    }

    private static func encoding(of start: [UInt8]) -> (String.Encoding, name: String) {
        let bytes = start + Array(repeating: 1, count: 4 - start.count)
        return switch (bytes[0], bytes[1], bytes[2], bytes[3]) {
        case (0, 0, 0xFE, 0xFF), (0, 0, 0, _): (.utf32BigEndian, "UTF-32BE")
        case (0xFF, 0xFE, 0, 0), (_, 0, 0, 0): (.utf32LittleEndian, "UTF-32LE")
        case (0xFE, 0xFF, _, _), (0, _, _, _): (.utf16BigEndian, "UTF-16BE")
        case (0xFF, 0xFE, _, _), (_, 0, _, _): (.utf16LittleEndian, "UTF-16LE")
        default: (.utf8, "UTF-8")
        }
    }
}
