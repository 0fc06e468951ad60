import Foundation

/// Counts how deep the elements of an XML property list are nested. Where it could see another nesting than Foundation's
/// readers do, it counts too much, or refuses.
struct XMLPropertyListCheck {
    private var rest: ArraySlice<UInt8>
    private var depth = 0

    static func check(_ data: Data) throws(PropertyListError) {
        let encoding: TextEncoding
        do {
            encoding = try TextDecoding.automatic.encoding(of: data, contentType: "application/xml")
        } catch {
            throw PropertyListError(.malformed(error.errorDescription ?? "\(error)"))
        }
        var check = XMLPropertyListCheck(rest: try bytes(of: data, in: encoding)[...])
        try check.run()
    }

    /// In some encodings a < can be half a character. Where bytes mean nothing, Foundation's reader of numbers ends the
    /// process.
    private static func bytes(of data: Data, in encoding: TextEncoding) throws(PropertyListError) -> [UInt8] {
        var decoder = TextDecoder(encoding)
        let text = decoder.decode(data) + decoder.finish()
        if let offset = decoder.malformedOffset {
            throw PropertyListError(.malformed("its bytes from offset \(offset) on are no \(encoding) text"))
        }
        return Array(text.utf8)
    }

    private init(rest: ArraySlice<UInt8>) {
        self.rest = rest
    }

    private mutating func run() throws(PropertyListError) {
        while let start = rest.firstIndex(of: UInt8(ascii: "<")) {
            rest = rest[(start + 1)...]
            switch rest.first {
            case UInt8(ascii: "?"): skip(past: "?>")
            case UInt8(ascii: "!"): try skipMarkup()
            case UInt8(ascii: "/"): depth -= 1
            default: try open()
            }
        }
    }

    private mutating func open() throws(PropertyListError) {
        let tag = rest.prefix { $0 != UInt8(ascii: ">") }
        rest = rest[tag.endIndex...]
        // A quoted > would make the tag longer than it looks here.
        if tag.last == UInt8(ascii: "/"), !tag.contains(where: { $0 == 0x22 || $0 == 0x27 }) { return }
        depth += 1
        // The elements plist and the innermost value are no arrays or dictionaries.
        if depth > PropertyListCheck.maximumDepth + 2 {
            throw PropertyListError(.tooDeep(limit: PropertyListCheck.maximumDepth))
        }
    }

    private mutating func skipMarkup() throws(PropertyListError) {
        if rest.starts(with: "!--".utf8) {
            rest = rest.dropFirst(3)
            return skip(past: "-->")
        }
        if rest.starts(with: "![CDATA[".utf8) { return skip(past: "]]>") }
        let declaration = rest.prefix { $0 != UInt8(ascii: ">") }
        let quotes = declaration.count { $0 == 0x22 }
        guard quotes.isMultiple(of: 2), !declaration.contains(where: { [0x27, 0x3C, 0x5B].contains($0) }) else {
            throw PropertyListError(.malformed("its document type has declarations, which no property list needs"))
        }
        rest = rest[declaration.endIndex...]
    }

    private mutating func skip(past end: String) {
        let end = Array(end.utf8)
        while !rest.isEmpty {
            if rest.starts(with: end) {
                rest = rest.dropFirst(end.count)
                return
            }
            rest = rest.dropFirst()
        }
    }
}
