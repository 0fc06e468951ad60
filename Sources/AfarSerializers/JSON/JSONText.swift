public import Foundation

/// JSON's own rules of text: it is UTF-8 (RFC 8259, section 8.1), and older texts show that they are UTF-16 or UTF-32 by
/// where their first bytes are NUL (RFC 4627, section 3).
///
/// Here is what a parser of one's own needs beside itself.
public enum JSONText {
    /// The encoding of a text without a byte-order mark.
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

    /// The text in UTF-8 without a byte-order mark. Plain UTF-8 costs a look at its first bytes.
    ///
    /// - Throws: A ``TextDecodingError``.
    public static func utf8(_ bytes: Data) throws(TextDecodingError) -> Data {
        if beginsAsUTF8(bytes) { return bytes }
        let mark = TextEncoding.ofByteOrderMark(in: bytes)
        let encoding = mark ?? encoding(of: bytes)
        guard encoding != .utf8 else { return mark == nil ? bytes : bytes.dropFirst(3) }
        return Data(try TextDecoding(encoding: encoding, malformedBytes: .refuse).decode(bytes).text.utf8)
    }

    /// What is wrong with a text in UTF-8 that a parser has refused, and where; nil when it is JSON (RFC 8259) and nested no
    /// deeper than 512 levels. It takes its time.
    public static func fault(in text: Data) -> InvalidJSON? { JSONFaultFinder.fault(in: text) }

    /// Whether the text begins with two ASCII characters, as JSON in UTF-8 mostly does.
    private static func beginsAsUTF8(_ bytes: Data) -> Bool {
        guard bytes.count >= 2 else { return false }
        return (0x01..<0x80).contains(bytes[bytes.startIndex]) && (0x01..<0x80).contains(bytes[bytes.startIndex + 1])
    }

    /// Reads Foundation's values.
    ///
    /// - Throws: A ``TextDecodingError``, an ``InvalidJSON``, or Foundation's error where that knows better.
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
    /// - Throws: A `DecodingError`; `dataCorrupted` for what is no JSON, with a ``TextDecodingError`` or an ``InvalidJSON``
    ///   underneath.
    static func decode<T: Decodable>(_ type: T.Type, from bytes: Data, with decoder: JSONDecoder) throws -> T {
        let text: Data
        do {
            text = try utf8(bytes)
        } catch {
            throw DecodingError.dataCorrupted(by: error)
        }
        if let fault = faultThatCrashes(text) { throw DecodingError.dataCorrupted(by: fault) }
        // JSON5 allows them.
        if !decoder.allowsJSON5, let fault = faultOfTrailingComma(text) { throw DecodingError.dataCorrupted(by: fault) }
        do {
            return try decoder.decode(type, from: text)
        } catch DecodingError.dataCorrupted(let context) where context.codingPath.isEmpty {
            // JSON5 has other faults.
            if !decoder.allowsJSON5, let fault = fault(in: text) { throw DecodingError.dataCorrupted(by: fault) }
            throw TracedDecoding<T>.error(in: text, decoder) ?? DecodingError.dataCorrupted(context)
        }
    }

    private static func faultOfTrailingComma(_ text: Data) -> InvalidJSON? {
        TrailingComma.isAcceptedByFoundation && TrailingComma.isIn(text) ? fault(in: text) : nil
    }

    /// Foundation on Linux traps when arrays and objects are nested too deep and the text ends there. No text that ends in an
    /// opening bracket is JSON, so none is given to it.
    private static func faultThatCrashes(_ text: Data) -> InvalidJSON? {
        text.last == UInt8(ascii: "[") || text.last == UInt8(ascii: "{") ? fault(in: text) : nil
    }
}

extension DecodingError {
    /// The error for data that is not even in the decoder's format.
    public static func dataCorrupted(by error: any LocalizedError) -> DecodingError {
        .dataCorrupted(
            Context(codingPath: [], debugDescription: error.errorDescription ?? "\(error)", underlyingError: error))
    }
}

// MARK: - Trailing commas

/// Commas after the last value of an array or an object, which are no JSON (RFC 8259, sections 4 and 5).
enum TrailingComma {
    /// Whether `JSONSerialization` takes them: it does on Linux, and nowhere else.
    static let isAcceptedByFoundation: Bool = {
        #if canImport(Darwin)
            false
        #else
            true
        #endif
    }()

    /// Whether there is one in a text in UTF-8 that is well-formed otherwise.
    static func isIn(_ text: Data) -> Bool {
        text.withUnsafeBytes { bytes in
            // Most texts hold nothing that looks like one, not even in a string, so strings need not be told apart.
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

    /// Whether this is `]` or `}`, which differ from each other in one bit.
    private static func isEnd(_ byte: UInt8) -> Bool { byte | 0x20 == UInt8(ascii: "}") }
}

// MARK: - White space

extension UInt8 {
    /// RFC 8259, section 2.
    var isJSONWhiteSpace: Bool { self == 0x20 || self == 0x0A || self == 0x0D || self == 0x09 }
}
