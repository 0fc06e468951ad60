import AfarCore
import AfarSerializers
import Foundation

extension Subject {
    /// All encodings, and their detection.
    static let text =
        TextEncoding.all.map { encoding in
            Subject("text-\(encoding.name)", seeds: textSeeds, tokens: textTokens) {
                (input, random) throws(Contradiction) in
                var whole = TextDecoder(encoding)
                let text = whole.decode(input) + whole.finish()
                var cut = TextDecoder(encoding)
                let pieces = random.chunks(of: input).map { cut.decode($0) }.joined() + cut.finish()
                try Contradiction.check(text, pieces, "\(encoding), cut")
                try Contradiction.check(whole.malformedOffset, cut.malformedOffset, "\(encoding), malformed bytes")
                let strict = try? TextDecoding(encoding: encoding, malformedBytes: .reject).decode(input).text
                try Contradiction.check(strict, whole.malformedOffset == nil ? text : nil, "\(encoding), strictly")
                return strict != nil
            }
        } + [
            Subject("text-detection", seeds: declaredSeeds, tokens: declaredTokens) {
                (input, random) throws(Contradiction) in
                let type = random.pick(contentTypes + [String(decoding: input.prefix(60), as: UTF8.self)]) ?? nil
                _ = try? TextDecoding.automatic.decode(input, contentType: type)
                _ = try? TextDecoding.charsetOrLatin1.decode(input, contentType: type)
                guard let text = try? TextDecoding.replacing.decode(input, contentType: type) else {
                    throw Contradiction("the text can't be decoded, although browsers can")
                }
                let count = text.text.unicodeScalars.count
                try Contradiction.check(count <= 2 * input.count + 1, true, "length of \(input.count) bytes: \(count)")
                if text.malformedOffset == nil, text.reason == .charset, text.unknownCharset == nil {
                    let strict = try? TextDecoding.strict.decode(input, contentType: type).text
                    try Contradiction.check(strict, text.text, "strictly")
                }
                let shown = TerminalText.safe(text.text)
                let steers = shown.unicodeScalars.contains { scalar in
                    scalar.value < 9 || (0x7F..<0xA0).contains(scalar.value) || scalar.properties.isBidiControl
                        || scalar.properties.generalCategory == .lineSeparator
                }
                try Contradiction.check(steers, false, "whether the text contains terminal control characters")
                return text.malformedOffset == nil
            }
        ]

    private static let textSeeds: [Data] = [
        Data("Plain ASCII, then Grüße, 日本語, 😀 and \u{7FF}\u{800}\u{FFFF}.".utf8),
        // 日本語テキスト in Shift_JIS, EUC-JP and ISO-2022-JP.
        Data([0x93, 0xFA, 0x96, 0x7B, 0x8C, 0xEA, 0x83, 0x65, 0x83, 0x4C, 0xB1, 0xB2, 0x41]),
        Data([0xC6, 0xFC, 0xCB, 0xDC, 0xB8, 0xEC, 0x8E, 0xB1, 0x8F, 0xB0, 0xA1, 0x41]),
        Data([0x1B, 0x24, 0x42, 0x46, 0x7C, 0x4B, 0x5C, 0x1B, 0x28, 0x4A, 0x5C, 0x1B, 0x28, 0x42, 0x41]),
        // 中文 and 한국어 in GBK, gb18030 (four bytes), Big5 and EUC-KR.
        Data([0xD6, 0xD0, 0xCE, 0xC4, 0x81, 0x30, 0x81, 0x30, 0x90, 0x30, 0x81, 0x30, 0xA4, 0xA4, 0xA4, 0xE5]),
        Data([0xC7, 0xD1, 0xB1, 0xB9, 0xBE, 0xEE, 0x81, 0x41, 0xC6, 0x52, 0x88, 0x62, 0x88, 0xA5]),
        Data([0xFF, 0xFE, 0x41, 0x00, 0x3D, 0xD8, 0x00, 0xDE, 0x00, 0xDC]), Data((0...255).map { UInt8($0) }),
        Data([0x00, 0x00, 0xFE, 0xFF, 0x00, 0x01, 0xF6, 0x00, 0x00, 0x11, 0x00, 0x00]),
    ]

    private static let textTokens = [
        "\u{FEFF}", "\u{1B}$B", "\u{1B}(B", "\u{1B}(J", "\u{1B}(I", "\u{1B}$@", "\u{FFFD}", "é", "日", "😀", "\0", "A",
        "\\~",
    ]

    private static let declaredSeeds = [
        "<?xml version='1.0' encoding='euc-jp'?><a/>", "<meta charset=\"shift_jis\"><p>x", "{\"a\":\"é\"}",
        "<!-- x --><meta content='text/html; charset=koi8-r' http-equiv=content-type>",
        "text/html; charset=\"utf-8\"; a=b",
        "\u{FEFF}text", "text/plain;charset='big5'",
    ]

    private static let declaredTokens = [
        "<meta ", "charset=", "content=", "http-equiv=", "content-type", "<?xml ", "encoding=", "\"", "'", "utf-16",
        "gbk",
        "x-user-defined", "replacement", "iso-2022-jp", "<!--", "-->", ">", "/", "</a ", "<!", ";", "text/html",
        "\u{FEFF}",
        "\u{1B}]0;", "\u{9B}", "\u{202E}",
    ]

    private static let contentTypes: [String?] = [
        nil, "text/plain", "text/html", "application/xml", "application/json", "text/html; charset=euc-kr",
    ]
}
