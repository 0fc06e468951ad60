import AfarCore
public import Foundation

/// What is wrong with a text that should be JSON, and where.
///
/// As an `NSError` it is what `JSONSerialization` throws: of `NSCocoaErrorDomain`, with the code 3840
/// (`propertyListReadCorrupt`).
public struct InvalidJSON: LocalizedError, CustomNSError, Sendable, Hashable {
    /// What is wrong there.
    public let problem: String
    /// The line, counted from 1.
    public let line: Int
    /// The character in the line (a Unicode scalar), counted from 1.
    public let column: Int
    /// The byte in the text, which is UTF-8 without a byte-order mark; counted from 0.
    public let byteOffset: Int

    /// Makes an error.
    public init(problem: String, line: Int, column: Int, byteOffset: Int) {
        self.problem = problem
        self.line = line
        self.column = column
        self.byteOffset = byteOffset
    }

    /// Makes an error.
    public init(problem: String, location: JSONLocation) {
        self.init(
            problem: problem, line: location.line, column: location.column, byteOffset: location.byteOffset)
    }

    /// What is wrong and where, for a person.
    public var errorDescription: String? { "\(problem) at line \(line), column \(column) (byte \(byteOffset))" }

    // MARK: As an NSError

    /// `NSCocoaErrorDomain`.
    public static var errorDomain: String { NSCocoaErrorDomain }

    /// 3840, `CocoaError.Code.propertyListReadCorrupt`.
    public var errorCode: Int { CocoaError.Code.propertyListReadCorrupt.rawValue }

    /// The description, and the byte under `NSJSONSerializationErrorIndex`.
    public var errorUserInfo: [String: Any] {
        let text = errorDescription ?? problem
        return [
            NSLocalizedDescriptionKey: text, NSDebugDescriptionErrorKey: text,
            "NSJSONSerializationErrorIndex": byteOffset,
        ]
    }
}

// MARK: - Location

/// Where in a text something stands. Of a value that could not be decoded it is the `underlyingError` of the `DecodingError`.
public struct JSONLocation: Error, Hashable, Sendable, CustomStringConvertible {
    /// The line, counted from 1.
    public private(set) var line = 1
    /// The character in the line (a Unicode scalar), counted from 1.
    public private(set) var column = 1
    /// The byte in the text, which is UTF-8 without a byte-order mark; counted from 0.
    public private(set) var byteOffset = 0

    /// The location of a text's first byte.
    public init() {}

    /// The location of a byte.
    ///
    /// - Parameters:
    ///   - byteOffset: How many bytes of the text come before.
    ///   - text: The text in UTF-8.
    public init(of byteOffset: Int, in text: UnsafeRawBufferPointer) {
        self = JSONLocation().advanced(over: UnsafeRawBufferPointer(rebasing: text.prefix(max(0, byteOffset))))
    }

    /// The location behind bytes that begin here.
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

    /// The line, the column and the byte.
    public var description: String { "line \(line), column \(column) (byte \(byteOffset))" }
}

// MARK: - Finding the fault

/// Finds where a text is no JSON (RFC 8259). It runs when a parser has failed, to tell what the parser does not.
struct JSONFaultFinder {
    /// How deep arrays and objects may be nested: what Foundation's parsers take.
    static let maximumDepth = 512

    private struct Fault: Error {
        let problem: String
        let offset: Int
    }

    private let bytes: [UInt8]
    private var index = 0
    /// What closes the arrays and objects that are open.
    private var open: [UInt8] = []

    /// What is wrong with a text in UTF-8; nil when nothing is.
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
        var wantsValue = true
        repeat {
            if wantsValue { try beginValue() }
            wantsValue = try endValue()
        } while !open.isEmpty || wantsValue
        skipSpace()
        if index < bytes.count { throw Fault(problem: "There is more after the end of the value", offset: index) }
    }

    /// Reads a value, or the beginnings of arrays and objects up to the first value that is none.
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
            case nil: throw Fault(problem: "The text ends where a value should be", offset: index)
            default: throw Fault(problem: "There is no value", offset: index)
            }
        }
    }

    /// Reads what may follow a value. It tells whether another value must come.
    private mutating func endValue() throws(Fault) -> Bool {
        while let end = open.last {
            skipSpace()
            guard let byte = current else {
                throw Fault(problem: "The text ends where \(Self.name(end)) or , should be", offset: index)
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
                throw Fault(problem: "There is no \(Self.name(end)) or ,", offset: index - 1)
            }
        }
        return false
    }

    private mutating func nest(_ end: UInt8) throws(Fault) {
        guard open.count < Self.maximumDepth else {
            throw Fault(problem: "Arrays and objects are nested more than \(Self.maximumDepth) deep", offset: index)
        }
        open.append(end)
        index += 1
        skipSpace()
    }

    private mutating func readKey() throws(Fault) {
        guard current == UInt8(ascii: "\"") else {
            throw Fault(problem: "There is no key in double quotes", offset: index)
        }
        try readString()
        skipSpace()
        guard current == UInt8(ascii: ":") else { throw Fault(problem: "There is no : after the key", offset: index) }
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
                throw Fault(problem: "A string has bytes that are no UTF-8", offset: start)
            case ..<0x20: throw Fault(problem: "A control character in a string is not escaped", offset: index)
            case UInt8(ascii: "\\"): try readEscape()
            default: index += 1
            }
        }
        throw Fault(problem: "A string has no end", offset: start)
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
        throw Fault(problem: "There is no such escape", offset: start)
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
        guard bytes[index...].starts(with: word.utf8) else { throw Fault(problem: "There is no value", offset: index) }
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
