import AfarCore

/// An object or array of JSON.
enum JSONContainer {
    case object
    case array
}

/// Receives the parts of a JSON text in their order.
protocol JSONHandler {
    mutating func begin(_ container: JSONContainer)
    /// Called before each element of an array, and before each name of an object.
    ///
    /// - Parameter depth: The number of containers around the element.
    mutating func beginElement(isFirst: Bool, depth: Int)
    /// - Parameter literal: The name as it's written, with quotes and escapes.
    mutating func name(_ literal: ArraySlice<UInt8>)
    /// - Parameter literal: A string, number, `true`, `false` or `null` as it's written.
    mutating func scalar(_ literal: ArraySlice<UInt8>)
    mutating func end(_ container: JSONContainer, isEmpty: Bool, depth: Int)
}

/// Parses JSON (RFC 8259) in a single pass.
struct JSONReader<Handler: JSONHandler> {
    private struct NotJSON: Error {}

    private(set) var handler: Handler
    private let text: [UInt8]
    private var position = 0

    init(_ text: String, handler: Handler) {
        self.text = Array(text.utf8)
        self.handler = handler
    }

    /// Passes the text to the handler. Returns false if the text isn't JSON; the handler has then received a part of it.
    mutating func read() -> Bool {
        do {
            try value(depth: 0)
            skipSpace()
            return position == text.count
        } catch {
            return false
        }
    }

    private mutating func value(depth: Int) throws {
        guard depth < JSONText.depthLimit else { throw NotJSON() }
        skipSpace()
        switch peek {
        case UInt8(ascii: "{"): try container(.object, closing: UInt8(ascii: "}"), depth: depth)
        case UInt8(ascii: "["): try container(.array, closing: UInt8(ascii: "]"), depth: depth)
        case UInt8(ascii: "\""): handler.scalar(try string())
        default: handler.scalar(try word() ?? number())
        }
    }

    private mutating func container(_ container: JSONContainer, closing: UInt8, depth: Int) throws {
        handler.begin(container)
        position += 1
        skipSpace()
        guard !skip(closing) else { return handler.end(container, isEmpty: true, depth: depth) }
        var isFirst = true
        repeat {
            handler.beginElement(isFirst: isFirst, depth: depth + 1)
            isFirst = false
            if container == .object { try name() }
            try value(depth: depth + 1)
            skipSpace()
        } while skip(UInt8(ascii: ","))
        guard skip(closing) else { throw NotJSON() }
        handler.end(container, isEmpty: false, depth: depth)
    }

    private mutating func name() throws {
        skipSpace()
        handler.name(try string())
        skipSpace()
        guard skip(UInt8(ascii: ":")) else { throw NotJSON() }
    }

    private mutating func string() throws -> ArraySlice<UInt8> {
        let start = position
        guard skip(UInt8(ascii: "\"")) else { throw NotJSON() }
        while let byte = peek, byte != UInt8(ascii: "\"") {
            guard byte >= 0x20 else { throw NotJSON() }
            position += 1
            if byte == UInt8(ascii: "\\") { try escape() }
        }
        guard skip(UInt8(ascii: "\"")) else { throw NotJSON() }
        return text[start..<position]
    }

    private mutating func escape() throws {
        guard let byte = peek else { throw NotJSON() }
        position += 1
        if byte == UInt8(ascii: "u") {
            for _ in 0..<4 {
                guard let digit = peek, digit.isHexDigit else { throw NotJSON() }
                position += 1
            }
        } else if !"\"\\/bfnrt".utf8.contains(byte) {
            throw NotJSON()
        }
    }

    private mutating func word() -> ArraySlice<UInt8>? {
        for word in ["true", "false", "null"] where text[position...].starts(with: word.utf8) {
            position += word.utf8.count
            return text[(position - word.utf8.count)..<position]
        }
        return nil
    }

    private mutating func number() throws -> ArraySlice<UInt8> {
        let start = position
        _ = skip(UInt8(ascii: "-"))
        if !skip(UInt8(ascii: "0")) { try digits() }
        if skip(UInt8(ascii: ".")) { try digits() }
        if skip(UInt8(ascii: "e")) || skip(UInt8(ascii: "E")) {
            if !skip(UInt8(ascii: "+")) { _ = skip(UInt8(ascii: "-")) }
            try digits()
        }
        return text[start..<position]
    }

    private mutating func digits() throws {
        let start = position
        while let byte = peek, byte.isDigit { position += 1 }
        guard position > start else { throw NotJSON() }
    }

    private var peek: UInt8? { position < text.count ? text[position] : nil }

    private mutating func skip(_ byte: UInt8) -> Bool {
        guard peek == byte else { return false }
        position += 1
        return true
    }

    private mutating func skipSpace() {
        while let byte = peek, " \t\r\n".utf8.contains(byte) { position += 1 }
    }
}
