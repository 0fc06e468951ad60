import AfarSerializers
import Foundation

extension Contest {
    static func text() throws -> [Contest] {
        let line = "Grüße an alle, die das lesen; und ein bisschen mehr Text, damit es etwas zu tun gibt.\n"
        let utf8 = Data(String(repeating: line, count: 60_000).utf8)
        let ascii = Data(
            String(repeating: "Only what a typewriter of old had on its keys, and nothing else.\n", count: 80_000).utf8)
        let japanese = String(repeating: "吾輩は猫である。名前はまだ無い。\n", count: 60_000)
        guard let latin = String(decoding: utf8, as: UTF8.self).data(using: .windowsCP1252),
            let shiftJIS = japanese.data(using: .shiftJIS)
        else { throw CocoaError(.fileReadInapplicableStringEncoding) }

        func contest(_ title: String, _ data: Data, _ encoding: TextEncoding, _ foundation: String.Encoding) -> Contest
        {
            var decoding = TextDecoding.strict
            decoding.encoding = encoding
            return Contest(
                title: "Text: \(title)", bytes: data.count,
                entries: [
                    Entry(name: "Foundation's String") {
                        guard String(data: data, encoding: foundation) != nil else {
                            throw CocoaError(.coderInvalidValue)
                        }
                    },
                    Entry(name: "TextDecoding") { _ = try decoding.decode(data) },
                    Entry(name: "TextDecoder, chunks of 16 KiB") {
                        var decoder = TextDecoder(encoding)
                        var rest = data
                        while !rest.isEmpty {
                            _ = decoder.decode(rest.prefix(16_384))
                            rest = rest.dropFirst(16_384)
                        }
                        _ = decoder.finish()
                    },
                ])
        }
        return [
            contest("ASCII in UTF-8", ascii, .utf8, .utf8),
            contest("German in UTF-8", utf8, .utf8, .utf8),
            contest("German in windows-1252", latin, .windows1252, .windowsCP1252),
            contest("Japanese in Shift_JIS", shiftJIS, .shiftJIS, .shiftJIS),
        ]
    }
}
