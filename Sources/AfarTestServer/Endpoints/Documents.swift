import Foundation

/// Answers with fixed content, one for each common media type.
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
