import AfarCore
public import Foundation

/// An error that describes a problem in a JSON text and its position.
///
/// As an `NSError`, it has the domain and code of errors that `JSONSerialization` throws: `NSCocoaErrorDomain` and 3840
/// (`propertyListReadCorrupt`).
public struct InvalidJSON: LocalizedError, CustomNSError, Sendable, Hashable {
    /// A description of the problem.
    public let problem: String
    /// The line number. The first line is 1.
    public let line: Int
    /// The column as a number of Unicode scalars. The first column is 1.
    public let column: Int
    /// The zero-based byte offset in the UTF-8 text without a byte-order mark.
    public let byteOffset: Int

    /// Creates an error.
    public init(problem: String, line: Int, column: Int, byteOffset: Int) {
        self.problem = problem
        self.line = line
        self.column = column
        self.byteOffset = byteOffset
    }

    /// Creates an error at a location.
    public init(problem: String, location: JSONLocation) {
        self.init(
            problem: problem, line: location.line, column: location.column, byteOffset: location.byteOffset)
    }

    /// A description of the problem and its position.
    public var errorDescription: String? { "\(problem) at line \(line), column \(column) (byte \(byteOffset))" }

    // MARK: NSError

    /// `NSCocoaErrorDomain`.
    public static var errorDomain: String { NSCocoaErrorDomain }

    /// 3840, `CocoaError.Code.propertyListReadCorrupt`.
    public var errorCode: Int { CocoaError.Code.propertyListReadCorrupt.rawValue }

    /// A dictionary that contains the description and, under the key `NSJSONSerializationErrorIndex`, the byte offset.
    public var errorUserInfo: [String: Any] {
        let text = errorDescription ?? problem
        return [
            NSLocalizedDescriptionKey: text, NSDebugDescriptionErrorKey: text,
            "NSJSONSerializationErrorIndex": byteOffset,
        ]
    }
}

// MARK: - Location

/// A position in a JSON text. If a value can't be decoded, its position is the `underlyingError` of the `DecodingError`.
public struct JSONLocation: Error, Hashable, Sendable, CustomStringConvertible {
    /// The line number. The first line is 1.
    public private(set) var line = 1
    /// The column as a number of Unicode scalars. The first column is 1.
    public private(set) var column = 1
    /// The zero-based byte offset in the UTF-8 text without a byte-order mark.
    public private(set) var byteOffset = 0

    /// Creates the location of the first byte of a text.
    public init() {}

    /// Creates the location of a byte.
    ///
    /// - Parameters:
    ///   - byteOffset: The number of bytes before the location.
    ///   - text: The text in UTF-8.
    public init(of byteOffset: Int, in text: UnsafeRawBufferPointer) {
        self = JSONLocation().advanced(over: UnsafeRawBufferPointer(rebasing: text.prefix(max(0, byteOffset))))
    }

    /// Returns the location after bytes that begin at this location.
    public func advanced(over bytes: UnsafeRawBufferPointer) -> JSONLocation {
        var location = self
        location.byteOffset += bytes.count
        var characters = 0
        for byte in bytes {
            if byte == 0x0A {
                location.line += 1
                location.column = 1
                characters = 0
            } else if byte & 0xC0 != 0x80 {
                characters += 1
            }
        }
        location.column += characters
        return location
    }

    /// The line, the column and the byte offset.
    public var description: String { "line \(line), column \(column) (byte \(byteOffset))" }
}

// MARK: - Finding problems

/// Finds the position at which text stops being valid JSON (RFC 8259). It runs after a parser has failed without reporting a position.
struct JSONFaultFinder {
    /// The maximum nesting depth of arrays and objects, as in Foundation's parsers.
    static let maximumDepth = 512

    private struct Fault: Error {
        let problem: String
        let offset: Int
    }

    private let bytes: [UInt8]
    private var index = 0
    /// The closing brackets of the open arrays and objects.
    private var open: [UInt8] = []

    /// Returns the first problem in UTF-8 text, or `nil` if the text is valid.
    static func fault(in text: Data) -> InvalidJSON? {
        var finder = JSONFaultFinder(bytes: [UInt8](text))
        do {
            try finder.read()
            return nil
        } catch {
            return finder.invalid(error)
        }
    }

    private init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    private func invalid(_ fault: Fault) -> InvalidJSON {
        InvalidJSON(problem: fault.problem, location: bytes.withUnsafeBytes { JSONLocation(of: fault.offset, in: $0) })
    }

    // MARK: Grammar

    private mutating func read() throws(Fault) {
        var expectsValue = true
        repeat {
            if expectsValue { try beginValue() }
            expectsValue = try endValue()
        } while !open.isEmpty || expectsValue
        skipSpace()
        if index < bytes.count { throw Fault(problem: "Unexpected content after the end of the value", offset: index) }
    }

    /// Reads a value. For nested arrays and objects, reads up to the first value that is neither an array nor an object.
    private mutating func beginValue() throws(Fault) {
        while true {
            skipSpace()
            switch current {
            case UInt8(ascii: "["):
                try nest(UInt8(ascii: "]"))
                if current == UInt8(ascii: "]") { return }
            case UInt8(ascii: "{"):
                try nest(UInt8(ascii: "}"))
                if current == UInt8(ascii: "}") { return }
                try readKey()
            case UInt8(ascii: "\""): return try readString()
            case UInt8(ascii: "t"): return try read("true")
            case UInt8(ascii: "f"): return try read("false")
            case UInt8(ascii: "n"): return try read("null")
            case UInt8(ascii: "-"), .some(UInt8(ascii: "0")...UInt8(ascii: "9")): return try readNumber()
            case nil: throw Fault(problem: "Expected a value, but the text ends", offset: index)
            default: throw Fault(problem: "Expected a value", offset: index)
            }
        }
    }

    /// Reads the text after a value. Returns whether another value must follow.
    private mutating func endValue() throws(Fault) -> Bool {
        while let end = open.last {
            skipSpace()
            guard let byte = current else {
                throw Fault(problem: "Expected \(Self.name(end)) or , but the text ends", offset: index)
            }
            index += 1
            if byte == end {
                open.removeLast()
            } else if byte == UInt8(ascii: ",") {
                if end == UInt8(ascii: "}") {
                    skipSpace()
                    try readKey()
                }
                return true
            } else {
                throw Fault(problem: "Expected \(Self.name(end)) or ,", offset: index - 1)
            }
        }
        return false
    }

    private mutating func nest(_ end: UInt8) throws(Fault) {
        guard open.count < Self.maximumDepth else {
            throw Fault(
                problem: "Arrays and objects are nested more than \(Self.maximumDepth) levels deep", offset: index)
        }
        open.append(end)
        index += 1
        skipSpace()
    }

    private mutating func readKey() throws(Fault) {
        guard current == UInt8(ascii: "\"") else {
            throw Fault(problem: "Expected a key in double quotes", offset: index)
        }
        try readString()
        skipSpace()
        guard current == UInt8(ascii: ":") else { throw Fault(problem: "Expected : after the key", offset: index) }
        index += 1
    }

    // MARK: Scalars

    private mutating func readString() throws(Fault) {
        let start = index
        index += 1
        while let byte = current {
            switch byte {
            case UInt8(ascii: "\""):
                let content = bytes[(start + 1)..<index]
                index += 1
                guard String(validating: content, as: UTF8.self) == nil else { return }
                throw Fault(problem: "A string contains invalid UTF-8", offset: start)
            case ..<0x20: throw Fault(problem: "A control character in a string is not escaped", offset: index)
            case UInt8(ascii: "\\"): try readEscape()
            default: index += 1
            }
        }
        throw Fault(problem: "A string is not terminated", offset: start)
    }

    private mutating func readEscape() throws(Fault) {
        let start = index
        index += 1
        let letter = current
        index += 1
        if letter == UInt8(ascii: "u") {
            let digits = bytes[min(index, bytes.count)...].prefix(4)
            index += 4
            if digits.count == 4, digits.allSatisfy(\.isHexDigit) { return }
        } else if let letter, "\"\\/bfnrt".utf8.contains(letter) {
            return
        }
        throw Fault(problem: "Invalid escape sequence", offset: start)
    }

    private mutating func readNumber() throws(Fault) {
        let start = index
        if current == UInt8(ascii: "-") { index += 1 }
        let isZero = current == UInt8(ascii: "0")
        let whole = skipDigits()
        var isNumber = whole == 1 || whole > 1 && !isZero
        if current == UInt8(ascii: ".") {
            index += 1
            isNumber = skipDigits() > 0 && isNumber
        }
        if let byte = current, byte | 0x20 == UInt8(ascii: "e") {
            index += 1
            if let sign = current, sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") { index += 1 }
            isNumber = skipDigits() > 0 && isNumber
        }
        if !isNumber { throw Fault(problem: "A number is malformed", offset: start) }
    }

    private mutating func read(_ word: String) throws(Fault) {
        guard bytes[index...].starts(with: word.utf8) else { throw Fault(problem: "Expected a value", offset: index) }
        index += word.utf8.count
    }

    // MARK: Bytes

    private var current: UInt8? { index < bytes.count ? bytes[index] : nil }

    private mutating func skipSpace() {
        while let byte = current, [0x20, 0x09, 0x0A, 0x0D].contains(byte) { index += 1 }
    }

    private mutating func skipDigits() -> Int {
        let start = index
        while let byte = current, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { index += 1 }
        return index - start
    }

    private static func name(_ byte: UInt8) -> String { String(Unicode.Scalar(byte)) }
}
