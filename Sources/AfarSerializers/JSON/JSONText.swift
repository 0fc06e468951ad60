public import Foundation

/// The encoding rules of JSON, for use in custom parsers.
///
/// JSON is UTF-8 (RFC 8259, section 8.1). Older documents in UTF-16 or UTF-32 are recognized by the NUL bytes among their first
/// bytes (RFC 4627, section 3).
public enum JSONText {
    /// Returns the encoding of text that has no byte-order mark.
    static func encoding(of bytes: Data) -> TextEncoding {
        let start = bytes.prefix(4).map { $0 == 0 }
        switch start {
        case [true, true, true, false]: return .utf32BigEndian
        case [false, true, true, true]: return .utf32LittleEndian
        default: break
        }
        guard start.count >= 2, start[0] != start[1] else { return .utf8 }
        return start[0] ? .utf16BigEndian : .utf16LittleEndian
    }

    /// Returns the text in UTF-8 without a byte-order mark. For plain UTF-8, only the first bytes are inspected.
    ///
    /// - Throws: ``TextDecodingError``.
    public static func utf8(_ bytes: Data) throws(TextDecodingError) -> Data {
        if beginsAsUTF8(bytes) { return bytes }
        let mark = TextEncoding.ofByteOrderMark(in: bytes)
        let encoding = mark ?? encoding(of: bytes)
        guard encoding != .utf8 else { return mark == nil ? bytes : bytes.dropFirst(3) }
        return Data(try TextDecoding(encoding: encoding, malformedBytes: .reject).decode(bytes).text.utf8)
    }

    /// Returns the first problem in UTF-8 text that a parser has rejected. Returns `nil` if the text is valid JSON (RFC 8259)
    /// with at most 512 levels of nesting.
    ///
    /// This method is slower than parsing.
    public static func fault(in text: Data) -> InvalidJSON? { JSONFaultFinder.fault(in: text) }

    /// Returns whether the text begins with two ASCII characters, as most JSON in UTF-8 does.
    private static func beginsAsUTF8(_ bytes: Data) -> Bool {
        guard bytes.count >= 2 else { return false }
        return (0x01..<0x80).contains(bytes[bytes.startIndex]) && (0x01..<0x80).contains(bytes[bytes.startIndex + 1])
    }

    /// Returns the text's value as a Foundation object.
    ///
    /// - Throws: ``TextDecodingError``, ``InvalidJSON`` or, if it is more specific, Foundation's error.
    static func object(with bytes: Data, options: JSONSerialization.ReadingOptions) throws -> Any {
        let text = try utf8(bytes)
        if let fault = faultThatCrashes(text) { throw fault }
        let object: Any
        do {
            object = try JSONSerialization.jsonObject(with: text, options: options)
        } catch {
            throw fault(in: text) ?? error
        }
        if let fault = faultOfTrailingComma(text) { throw fault }
        return object
    }

    /// Decodes a value.
    ///
    /// - Throws: `DecodingError`. For invalid JSON, the error is `dataCorrupted` with an underlying ``TextDecodingError`` or
    ///   ``InvalidJSON``.
    static func decode<T: Decodable>(_ type: T.Type, from bytes: Data, with decoder: JSONDecoder) throws -> T {
        let text: Data
        do {
            text = try utf8(bytes)
        } catch {
            throw DecodingError.dataCorrupted(by: error)
        }
        if let fault = faultThatCrashes(text) { throw DecodingError.dataCorrupted(by: fault) }
        // JSON5 allows trailing commas.
        if !decoder.allowsJSON5, let fault = faultOfTrailingComma(text) { throw DecodingError.dataCorrupted(by: fault) }
        do {
            return try decoder.decode(type, from: text)
        } catch DecodingError.dataCorrupted(let context) where context.codingPath.isEmpty {
            // The fault finder doesn't support JSON5.
            if !decoder.allowsJSON5, let fault = fault(in: text) { throw DecodingError.dataCorrupted(by: fault) }
            throw TracedDecoding<T>.error(in: text, decoder) ?? DecodingError.dataCorrupted(context)
        }
    }

    private static func faultOfTrailingComma(_ text: Data) -> InvalidJSON? {
        TrailingComma.isAcceptedByFoundation && TrailingComma.isIn(text) ? fault(in: text) : nil
    }

    /// Foundation on Linux traps if the text ends in deeply nested arrays or objects. Text that ends in an opening bracket is
    /// never valid JSON, so it isn't passed to Foundation.
    private static func faultThatCrashes(_ text: Data) -> InvalidJSON? {
        text.last == UInt8(ascii: "[") || text.last == UInt8(ascii: "{") ? fault(in: text) : nil
    }
}

extension DecodingError {
    /// Returns the error for data that doesn't have the decoder's format.
    public static func dataCorrupted(by error: any LocalizedError) -> DecodingError {
        .dataCorrupted(
            Context(codingPath: [], debugDescription: error.errorDescription ?? "\(error)", underlyingError: error))
    }
}

/// Detects commas after the last value of an array or object. JSON doesn't allow these commas (RFC 8259, sections 4 and 5).
enum TrailingComma {
    /// Whether `JSONSerialization` accepts trailing commas. It accepts them only on Linux.
    static let isAcceptedByFoundation: Bool = {
        #if canImport(Darwin)
            false
        #else
            true
        #endif
    }()

    /// Returns whether a UTF-8 text contains a trailing comma. The text must be valid JSON except for such commas.
    static func isIn(_ text: Data) -> Bool {
        text.withUnsafeBytes { bytes in
            // Most documents have no comma before a closing bracket, even in strings.
            hasCandidate(bytes) && hasOneOutsideStrings(bytes)
        }
    }

    private static func hasCandidate(_ bytes: UnsafeRawBufferPointer) -> Bool {
        for index in bytes.indices where isEnd(bytes[index]) {
            var before = index - 1
            while before >= 0, bytes[before].isJSONWhiteSpace { before -= 1 }
            if before >= 0, bytes[before] == UInt8(ascii: ",") { return true }
        }
        return false
    }

    private static func hasOneOutsideStrings(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var followsComma = false
        var index = 0
        while index < bytes.count {
            let byte = bytes[index]
            index += 1
            if byte.isJSONWhiteSpace { continue }
            if isEnd(byte), followsComma { return true }
            followsComma = byte == UInt8(ascii: ",")
            guard byte == UInt8(ascii: "\"") else { continue }
            while index < bytes.count, bytes[index] != UInt8(ascii: "\"") {
                index += bytes[index] == UInt8(ascii: "\\") ? 2 : 1
            }
            index += 1
        }
        return false
    }

    /// Returns whether the byte is `]` or `}`, which differ in one bit.
    private static func isEnd(_ byte: UInt8) -> Bool { byte | 0x20 == UInt8(ascii: "}") }
}

extension UInt8 {
    /// Whether the byte is white space in JSON (RFC 8259, section 2).
    var isJSONWhiteSpace: Bool { self == 0x20 || self == 0x0A || self == 0x0D || self == 0x09 }
}
