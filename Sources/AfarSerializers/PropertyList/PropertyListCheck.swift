import AfarCore
import Foundation

/// Looks at a property list before Foundation does, whose readers crash, or take memory without end, on what only an attacker
/// would send.
enum PropertyListCheck {
    /// How deep arrays and dictionaries may be nested.
    static let maximumDepth = 512

    /// Refuses what is not safe to read.
    static func check(
        _ data: Data, allowedFormats: Set<PropertyListSerialization.PropertyListFormat>
    ) throws(PropertyListError) {
        let format = try format(of: data)
        switch format {
        case .binary?: try BinaryPropertyListCheck.check(data)
        case .xml?: try XMLPropertyListCheck.check(data)
        // Foundation itself keeps the depth in bounds.
        default: break
        }
        if let format, !allowedFormats.contains(format) { throw PropertyListError(.formatNotAllowed(format)) }
        // A bare word is OpenStep too, but whoever does not ask for that is told what came.
        if format == nil, !allowedFormats.contains(.openStep) {
            throw unknownFormat(of: data)
        }
    }

    /// The format by how the bytes begin; nil when they begin like none.
    ///
    /// What is so far from any format that Foundation could find another beginning in it is refused.
    private static func format(
        of data: Data
    ) throws(PropertyListError) -> PropertyListSerialization.PropertyListFormat? {
        if data.starts(with: "bplist".utf8) { return .binary }
        let encoding = TextEncoding.ofByteOrderMark(in: data) ?? JSONText.encoding(of: data)
        var decoder = TextDecoder(encoding)
        let beginning = decoder.decode(data.prefix(1024))
        switch beginning.unicodeScalars.first(where: { !$0.properties.isWhitespace }) {
        case "<": return .xml
        case "{", "(", "\"": return .openStep
        case "\0": throw unknownFormat(of: data)
        case nil where data.count > 1024: throw unknownFormat(of: data)
        default: return nil
        }
    }

    private static func unknownFormat(of data: Data) -> PropertyListError {
        PropertyListError(.unknownFormat(beginning: String(decoding: data.prefix(20), as: UTF8.self)))
    }
}

// MARK: - XML property lists

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
