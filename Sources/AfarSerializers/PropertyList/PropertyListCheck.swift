import AfarCore
import Foundation

/// Validates a property list before Foundation reads it. Foundation's readers crash or use unlimited memory on input
/// that only an attacker would send.
enum PropertyListCheck {
    /// The maximum nesting depth of arrays and dictionaries.
    static let maximumDepth = 512

    /// Throws an error if the property list isn't safe to read.
    static func check(
        _ data: Data, allowedFormats: Set<PropertyListSerialization.PropertyListFormat>
    ) throws(PropertyListError) {
        let format = try format(of: data)
        switch format {
        case .binary?: try BinaryPropertyListCheck.check(data)
        case .xml?: try XMLPropertyListCheck.check(data)
        // Foundation limits the depth of OpenStep lists.
        default: break
        }
        if let format, !allowedFormats.contains(format) { throw PropertyListError(.formatNotAllowed(format)) }
        // A single unquoted word is also valid OpenStep. If OpenStep isn't allowed, the error contains the data instead of the
        // format.
        if format == nil, !allowedFormats.contains(.openStep) {
            throw unknownFormat(of: data)
        }
    }

    /// Returns the format that the first bytes indicate, or `nil` if they don't indicate any.
    ///
    /// Throws an error if Foundation could detect another format. Only unusual data is ambiguous in this way.
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

/// Measures the nesting depth of an XML property list. If Foundation's readers could interpret the text in different ways, the
/// check overestimates the depth or throws an error.
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

    /// Returns, in UTF-8, each text that Foundation could read from the data. Foundation's decoders differ from Afar's and can
    /// use another encoding for the same name, so the check must cover both interpretations. Invalid bytes are rejected because
    /// they make Foundation's number reader terminate the process.
    private static func readings(of data: Data, in encoding: TextEncoding) throws(PropertyListError) -> [[UInt8]] {
        guard encoding.kind != .replacement, encoding != .iso2022JP else {
            throw PropertyListError(.malformed("its encoding, \(encoding), could hide its content"))
        }
        var decoder = TextDecoder(encoding)
        let text = decoder.decode(data) + decoder.finish()
        if let offset = decoder.malformedOffset {
            throw PropertyListError(.malformed("its bytes at offset \(offset) aren't valid \(encoding)"))
        }
        let decoded = Array(text.utf8)
        return encoding == .utf8 || encoding.hasWideCodeUnits ? [decoded] : [decoded, [UInt8](data)]
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
        // A quoted `>` doesn't end the tag.
        if tag.last == UInt8(ascii: "/"), !tag.contains(where: { $0 == 0x22 || $0 == 0x27 }) { return }
        depth += 1
        // The plist element and the innermost value don't count toward the depth.
        if depth > PropertyListCheck.maximumDepth + 2 {
            throw PropertyListError(.tooDeep(limit: PropertyListCheck.maximumDepth))
        }
    }

    private mutating func close() throws(PropertyListError) {
        guard depth > 0 else { throw PropertyListError(.malformed("it has an end tag without a start tag")) }
        depth -= 1
    }

    private mutating func skipInstruction() throws(PropertyListError) {
        rest = rest.dropFirst()
        let beginning = rest.prefix { $0 != UInt8(ascii: ">") }
        guard !beginning.isEmpty else {
            throw PropertyListError(.malformed("it has an incomplete instruction, <?>"))
        }
        // Foundation could accept this as an XML declaration with another encoding.
        guard !rest.starts(with: "xml".utf8) || beginning.count < 1000 && beginning.last == UInt8(ascii: "?") else {
            throw PropertyListError(.malformed("its XML declaration isn't terminated"))
        }
        skip(past: "?>")
    }

    private mutating func skipMarkup() throws(PropertyListError) {
        if rest.starts(with: "!--".utf8) {
            rest = rest.dropFirst(3)
            guard !rest.starts(with: ">".utf8), !rest.starts(with: "->".utf8) else {
                throw PropertyListError(.malformed("it has a malformed comment"))
            }
            return skip(past: "-->")
        }
        if rest.starts(with: "![CDATA[".utf8) { return skip(past: "]]>") }
        let declaration = rest.prefix { $0 != UInt8(ascii: ">") }
        let quotes = declaration.count { $0 == 0x22 }
        guard quotes.isMultiple(of: 2), !declaration.contains(where: { [0x27, 0x3C, 0x5B].contains($0) }) else {
            throw PropertyListError(.malformed("its document type has declarations, which property lists don't need"))
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
