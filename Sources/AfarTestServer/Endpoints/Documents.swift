public import Foundation

/// Responses with fixed content, one for each common media type.
enum Documents {
    static func json(_: ServerRequest) throws -> ServerResponse {
        .content("application/json", Data(#"{"id":7,"name":"Ada","tags":["first","second"],"active":true}"#.utf8))
    }

    static func xml(_: ServerRequest) throws -> ServerResponse {
        let text = """
            <?xml version="1.0" encoding="UTF-8"?>
            <person id="7"><name>Ada</name><tag>first</tag><tag>second</tag></person>

            """
        return .content("application/xml", Data(text.utf8))
    }

    static func propertyList(_: ServerRequest) throws -> ServerResponse {
        try propertyList(.xml, "application/x-plist")
    }

    static func binaryPropertyList(_: ServerRequest) throws -> ServerResponse {
        try propertyList(.binary, "application/x-plist")
    }

    static func html(_: ServerRequest) throws -> ServerResponse {
        let text = """
            <!DOCTYPE html>
            <html lang="en"><head><meta charset="utf-8"><title>Ada</title></head><body><h1>Ada</h1></body></html>

            """
        return .content("text/html; charset=utf-8", Data(text.utf8))
    }

    static func text(_: ServerRequest) throws -> ServerResponse {
        .text("one line\nand another\n")
    }

    static func unicode(_: ServerRequest) throws -> ServerResponse {
        .text("Grüße · Здравствуйте · 日本語 · שלום · 👋🏽\n")
    }

    static func encoded(_ request: ServerRequest) throws -> ServerResponse {
        let charset = request.parameters["charset"]?.lowercased() ?? ""
        guard let sample = SampleText.all.first(where: { $0.charset == charset }) else {
            throw BadArgument(reason: "charset is none of \(SampleText.all.map(\.charset))")
        }
        return .content("text/plain; charset=\(charset)", sample.bytes)
    }

    static func empty(_: ServerRequest) throws -> ServerResponse {
        ServerResponse()
    }

    static func image(_: ServerRequest) throws -> ServerResponse {
        .content("image/png", PNG.image(width: 8, height: 8, red: 0x20, green: 0x80, blue: 0xe0))
    }

    private static func propertyList(
        _ format: PropertyListSerialization.PropertyListFormat,
        _ type: String
    ) throws -> ServerResponse {
        let content: [String: Any] = ["id": 7, "name": "Ada", "tags": ["first", "second"], "active": true]
        return .content(type, try PropertyListSerialization.data(fromPropertyList: content, format: format, options: 0))
    }
}

/// A text of `/encoding/{charset}`: the encoded bytes, and the characters that they encode.
public struct SampleText: Sendable {
    /// The charset's name, lowercased, as in `shift_jis`.
    public let charset: String
    /// The decoded text.
    public let text: String
    /// The encoded bytes, as sent.
    public let bytes: Data

    /// All sample texts.
    public static let all: [SampleText] = [
        SampleText("utf-8", "Grüße", [0x47, 0x72, 0xc3, 0xbc, 0xc3, 0x9f, 0x65]),
        SampleText("iso-8859-1", "Grüße", [0x47, 0x72, 0xfc, 0xdf, 0x65]),
        SampleText("windows-1252", "“5 €”", [0x93, 0x35, 0x20, 0x80, 0x94]),
        SampleText("utf-16", "Grüße", [0xfe, 0xff, 0, 0x47, 0, 0x72, 0, 0xfc, 0, 0xdf, 0, 0x65]),
        SampleText("utf-16le", "Grüße", [0x47, 0, 0x72, 0, 0xfc, 0, 0xdf, 0, 0x65, 0]),
        SampleText("shift_jis", "日本語", [0x93, 0xfa, 0x96, 0x7b, 0x8c, 0xea]),
        SampleText("euc-jp", "日本語", [0xc6, 0xfc, 0xcb, 0xdc, 0xb8, 0xec]),
    ]

    private init(_ charset: String, _ text: String, _ bytes: [UInt8]) {
        self.charset = charset
        self.text = text
        self.bytes = Data(bytes)
    }
}

/// A PNG image of a single color.
enum PNG {
    static func image(width: Int, height: Int, red: UInt8, green: UInt8, blue: UInt8) -> Data {
        let row = [0] + Array(repeatElement([red, green, blue], count: width).joined())
        let pixels = Array(repeatElement(row, count: height).joined())
        let header = bigEndian(width) + bigEndian(height) + [8, 2, 0, 0, 0]
        let signature: [UInt8] = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]
        return Data(signature + chunk("IHDR", header) + chunk("IDAT", Deflate.zlib(pixels)) + chunk("IEND", []))
    }

    private static func chunk(_ type: String, _ data: [UInt8]) -> [UInt8] {
        let content = Array(type.utf8) + data
        return bigEndian(data.count) + content + bigEndian(Int(Checksums.crc32(content)))
    }

    private static func bigEndian(_ value: Int) -> [UInt8] {
        withUnsafeBytes(of: UInt32(truncatingIfNeeded: value).bigEndian) { Array($0) }
    }
}
