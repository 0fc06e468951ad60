import AfarCore
import Foundation

/// Counts how deep the elements of an XML property list are nested. Where it could see another nesting than Foundation's
/// readers do, it counts too much, or refuses.
struct XMLPropertyListCheck {
    private var rest: ArraySlice<UInt8>
    private var depth = 0

    static func check(_ data: Data) throws(PropertyListError) {
        let encoding: TextEncoding
        do {
            encoding = try TextDecoding.automatic.encoding(of: data, as: MediaType("application/xml"))
        } catch {
            throw PropertyListError(.malformed(error.errorDescription ?? "\(error)"))
        }
        for bytes in try readings(of: data, in: encoding) {
            var check = XMLPropertyListCheck(rest: bytes[...])
            try check.run()
        }
    }

    /// The bytes as Foundation may see them: its decoders are not these, so those that know another encoding by the same
    /// name must find nothing else. Where bytes mean nothing, Foundation's reader of numbers ends the process.
    private static func readings(of data: Data, in encoding: TextEncoding) throws(PropertyListError) -> [[UInt8]] {
        guard encoding.kind != .replacement, encoding != .iso2022JP else {
            throw PropertyListError(.malformed("its encoding, \(encoding), could hide what is in it"))
        }
        var decoder = TextDecoder(encoding)
        let text = decoder.decode(data) + decoder.finish()
        if let offset = decoder.malformedOffset {
            throw PropertyListError(.malformed("its bytes from offset \(offset) on are no \(encoding) text"))
        }
        let decoded = Array(text.utf8)
        return encoding == .utf8 || encoding.isOfWideUnits ? [decoded] : [decoded, [UInt8](data)]
    }

    private init(rest: ArraySlice<UInt8>) {
        self.rest = rest
    }

    private mutating func run() throws(PropertyListError) {
        while let start = rest.firstIndex(of: UInt8(ascii: "<")) {
            rest = rest[(start + 1)...]
            switch rest.first {
            case UInt8(ascii: "?"): try skipInstruction()
            case UInt8(ascii: "!"): try skipMarkup()
            case UInt8(ascii: "/"): try close()
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

    private mutating func close() throws(PropertyListError) {
        guard depth > 0 else { throw PropertyListError(.malformed("it ends an element that has not begun")) }
        depth -= 1
    }

    private mutating func skipInstruction() throws(PropertyListError) {
        rest = rest.dropFirst()
        let beginning = rest.prefix { $0 != UInt8(ascii: ">") }
        guard !beginning.isEmpty else {
            throw PropertyListError(.malformed("it has <?>, which begins an instruction and does not end it"))
        }
        // What is no XML declaration here could be one there, and tell another encoding.
        guard !rest.starts(with: "xml".utf8) || beginning.count < 1000 && beginning.last == UInt8(ascii: "?") else {
            throw PropertyListError(.malformed("its XML declaration has no end where it should have one"))
        }
        skip(past: "?>")
    }

    private mutating func skipMarkup() throws(PropertyListError) {
        if rest.starts(with: "!--".utf8) {
            rest = rest.dropFirst(3)
            guard !rest.starts(with: ">".utf8), !rest.starts(with: "->".utf8) else {
                throw PropertyListError(.malformed("it has a comment that ends before it has begun"))
            }
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
