import AfarCore
public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// A link in a `Link` header field (RFC 8288).
public struct Link: Hashable, Sendable {
    private struct Parameter: Hashable {
        /// The name in lowercase.
        let name: String
        let value: String
    }

    /// The target of the link as written: a URL or a relative reference.
    public let target: String
    private let parameters: [Parameter]

    /// The relation types, such as "next", in lowercase, because their case doesn't matter (section 2.1). Only the first parameter
    /// `rel` counts (section 3.3).
    public var relationTypes: [String] {
        (self["rel"] ?? "").split(whereSeparator: { $0 == " " || $0 == "\t" }).map { $0.lowercased() }
    }

    /// Returns the value of the first parameter with this name, without its quotation marks. The value is empty if the parameter
    /// has no value. The case of names doesn't matter.
    public subscript(name: String) -> String? {
        let name = name.lowercased()
        return parameters.first { $0.name == name }?.value
    }

    /// Returns the URL of the target.
    ///
    /// - Parameter base: The URL of the response that contains the link, for a relative reference.
    /// - Returns: The URL, or nil if the target is invalid.
    public func url(relativeTo base: URL) -> URL? { URL(keepingEscapesOf: target, relativeTo: base) }

    /// Parses the value of a `Link` header field, or several values joined by commas (section 3 and appendix B.2).
    ///
    /// - Throws: ``SyntaxError`` if any part of the value is malformed.
    public static func parse(_ value: String) throws(SyntaxError) -> [Link] {
        var parser = Parser(value)
        return try parser.links()
    }

    /// The location and the cause of an error in a `Link` header field.
    public struct SyntaxError: Error, Hashable, Sendable {
        /// The number of bytes before the error, in UTF-8.
        public let position: Int
        /// What is wrong or expected at this position.
        public let reason: String
    }
}

extension Link.SyntaxError: LocalizedError, CustomStringConvertible {
    /// A human-readable description of the error.
    public var description: String { "The Link header is malformed at byte \(position): \(reason)." }

    /// The same text as `description`.
    public var errorDescription: String? { description }
}

extension HTTPURLResponse {
    /// The links in the response's `Link` header fields (RFC 8288).
    ///
    /// - Throws: ``Link/SyntaxError`` if a field is malformed.
    public var links: [Link] {
        get throws(Link.SyntaxError) { try Link.parse(headers["Link"] ?? "") }
    }
}

extension Link {
    private struct Parser {
        private let bytes: [UInt8]
        private var position = 0

        init(_ value: String) { bytes = Array(value.utf8) }

        private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

        mutating func links() throws(SyntaxError) -> [Link] {
            var links: [Link] = []
            while true {
                // A list can have empty elements (RFC 9110, section 5.6.1.2).
                skip { $0.isSpace || $0 == UInt8(ascii: ",") }
                guard next != nil else { return links }
                links.append(try link())
                guard next == nil || next == UInt8(ascii: ",") else { throw error("expected a comma or a semicolon") }
            }
        }

        private mutating func link() throws(SyntaxError) -> Link {
            guard skip("<") else { throw error("expected < before the target of a link") }
            let target = text { !$0.isSpace && !$0.isControl && !"<>\"\\".utf8.contains($0) }
            guard skip(">") else {
                throw error(next == nil ? "the target has no closing >" : "the target has an invalid character")
            }
            var parameters: [Parameter] = []
            while true {
                skip(while: \.isSpace)
                guard skip(";") else { return Link(target: target, parameters: parameters) }
                skip(while: \.isSpace)
                let name = text(while: \.isToken).lowercased()
                guard name.isEmpty else {
                    parameters.append(Parameter(name: name, value: try value()))
                    continue
                }
                // A semicolon without a parameter is allowed.
                guard next == nil || next == UInt8(ascii: ",") || next == UInt8(ascii: ";") else {
                    throw error("expected the name of a parameter")
                }
            }
        }

        private mutating func value() throws(SyntaxError) -> String {
            skip(while: \.isSpace)
            guard skip("=") else { return "" }
            skip(while: \.isSpace)
            if skip("\"") { return try quoted() }
            // RFC 8288 requires a token. Appendix B.3 accepts the types and URLs of earlier versions, which have no quotes.
            let value = text { !$0.isSpace && !$0.isControl && !",;\"<>\\".utf8.contains($0) }
            guard !value.isEmpty else { throw error("expected the value of a parameter") }
            return value
        }

        private mutating func quoted() throws(SyntaxError) -> String {
            var value: [UInt8] = []
            while let byte = next {
                guard !byte.isControl || byte.isSpace else { throw error("a string contains a control character") }
                position += 1
                if byte == UInt8(ascii: "\"") { return String(decoding: value, as: UTF8.self) }
                guard byte == UInt8(ascii: "\\") else {
                    value.append(byte)
                    continue
                }
                guard let escaped = next, !escaped.isControl || escaped.isSpace else {
                    throw error("expected a character after the backslash")
                }
                position += 1
                value.append(escaped)
            }
            throw error("the string has no closing quotation mark")
        }

        private func error(_ reason: String) -> SyntaxError { SyntaxError(position: position, reason: reason) }

        private mutating func skip(_ character: Unicode.Scalar) -> Bool {
            guard next == UInt8(ascii: character) else { return false }
            position += 1
            return true
        }

        private mutating func skip(while predicate: (UInt8) -> Bool) {
            while let byte = next, predicate(byte) { position += 1 }
        }

        private mutating func text(while predicate: (UInt8) -> Bool) -> String {
            let start = position
            skip(while: predicate)
            return String(decoding: bytes[start..<position], as: UTF8.self)
        }
    }
}

extension UInt8 {
    fileprivate var isSpace: Bool { self == UInt8(ascii: " ") || self == UInt8(ascii: "\t") }

    fileprivate var isControl: Bool { self < 0x20 || self == 0x7F }

    /// Whether the byte can be part of a token (RFC 9110, section 5.6.2).
    fileprivate var isToken: Bool {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"):
            true
        default: "!#$%&'*+-.^_`|~".utf8.contains(self)
        }
    }
}
