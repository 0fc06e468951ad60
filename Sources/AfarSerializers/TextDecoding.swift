import AfarCore
import Foundation

/// How a response's bytes become text.
struct TextDecoding {
    let explicit: String.Encoding?
    let contentType: String?

    func text(of data: Data) throws -> String {
        if let explicit { return try decode(data, explicit) }
        if let (encoding, length) = Self.byteOrderMark(of: data) {
            return try decode(data.dropFirst(length), encoding)
        }
        if let encoding = charset.flatMap({ Self.labels[$0] }) { return try decode(data, encoding) }
        if charset == nil {
            let text = String(data: data, encoding: .utf8) ?? String(data: data, encoding: .windowsCP1252)
            if let text { return text }
        }
        return try decode(data, .utf8)
    }

    private func decode(_ data: Data, _ encoding: String.Encoding) throws -> String {
        guard let text = String(data: data, encoding: encoding) else {
            throw AFError.responseSerializationFailed(reason: .stringSerializationFailed(encoding: encoding))
        }
        return text
    }

    /// The `charset` parameter of the Content-Type, unquoted and in lower case.
    private var charset: String? {
        guard let contentType else { return nil }
        for parameter in contentType.split(separator: ";").dropFirst() {
            let parts = parameter.split(separator: "=", maxSplits: 1)
            guard parts.count == 2, parts[0].trimmingCharacters(in: .whitespaces).lowercased() == "charset" else {
                continue
            }
            let quotesAndSpaces = CharacterSet.whitespaces.union(CharacterSet(charactersIn: "\"'"))
            return parts[1].trimmingCharacters(in: quotesAndSpaces).lowercased()
        }
        return nil
    }

    private static func byteOrderMark(of data: Data) -> (String.Encoding, length: Int)? {
        if data.starts(with: [0xEF, 0xBB, 0xBF]) { return (.utf8, 3) }
        if data.starts(with: [0xFE, 0xFF]) { return (.utf16BigEndian, 2) }
        if data.starts(with: [0xFF, 0xFE]) { return (.utf16LittleEndian, 2) }
        return nil
    }

    /// Names of encodings as the WHATWG Encoding Standard reads them, where Foundation has the encoding.
    private static let labels: [String: String.Encoding] = [
        "utf-8": .utf8, "utf8": .utf8, "unicode-1-1-utf-8": .utf8,
        "us-ascii": .windowsCP1252, "ascii": .windowsCP1252, "iso-8859-1": .windowsCP1252, "latin1": .windowsCP1252,
        "windows-1252": .windowsCP1252, "cp1252": .windowsCP1252,
        "iso-8859-2": .isoLatin2, "latin2": .isoLatin2,
        "windows-1250": .windowsCP1250, "windows-1251": .windowsCP1251, "windows-1253": .windowsCP1253,
        "windows-1254": .windowsCP1254,
        "utf-16": .utf16LittleEndian, "utf-16le": .utf16LittleEndian, "utf-16be": .utf16BigEndian,
        "utf-32": .utf32, "utf-32le": .utf32LittleEndian, "utf-32be": .utf32BigEndian,
        "shift_jis": .shiftJIS, "sjis": .shiftJIS, "iso-2022-jp": .iso2022JP, "euc-jp": .japaneseEUC,
    ]
}
