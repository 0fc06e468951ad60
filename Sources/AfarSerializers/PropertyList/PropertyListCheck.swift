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
