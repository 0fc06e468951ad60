import AfarCore
public import Foundation

/// XML and HTML documents, read with libxml2.
///
/// ```swift
/// let feed = try XML.Document(data)
/// for title in try feed.xpath("//a:entry/a:title", namespaces: ["a": "http://www.w3.org/2005/Atom"]).nodes {
///     print(title.text)
/// }
/// ```
public enum XML {}

// MARK: - Errors

extension XML {
    /// An error in a document or an expression, with its position.
    public struct Error: Swift.Error, Hashable, Sendable {
        /// The kind of error.
        public let kind: Kind
        /// A description of the problem.
        public let message: String
        /// The line number. The first line is 1.
        public let line: Int?
        /// The column, in characters as libxml2 counts them. The first column is 1.
        public let column: Int?
        /// The zero-based byte offset of the problem, in the XPath expression or in the document's UTF-8 form.
        public let byteOffset: Int?
        /// The open elements at the position, such as `/feed/entry/title`.
        public let path: String?

        /// Creates an error.
        public init(
            _ kind: Kind, _ message: String, line: Int? = nil, column: Int? = nil, byteOffset: Int? = nil,
            path: String? = nil
        ) {
            self.kind = kind
            self.message = message
            self.line = line
            self.column = column
            self.byteOffset = byteOffset
            self.path = path
        }
    }
}

extension XML.Error {
    /// A kind of error.
    public enum Kind: Hashable, Sendable {
        /// The document is empty or consists only of white space.
        case emptyDocument
        /// The document isn't well-formed: it is malformed, truncated, uses undeclared prefixes or has trailing
        /// content.
        case malformed
        /// The bytes are invalid in the document's encoding.
        case invalidBytes
        /// The encoding is unknown.
        case unsupportedEncoding
        /// The document has a document type declaration, which ``XML/ParsingOptions/documentType`` doesn't allow.
        case documentTypeRefused
        /// The document refers to an entity that XML doesn't define. Entities that a document declares are never
        /// expanded.
        case entityRefused
        /// The document exceeds a limit of ``XML/ParsingOptions`` or of libxml2.
        case limitExceeded
        /// The XPath expression can't be compiled, or it uses an undefined prefix, variable or function.
        case invalidXPath
        /// The XPath expression takes too many steps, is too long, or has too deeply nested brackets.
        case xpathTooComplex
        /// Not enough memory is available.
        case outOfMemory
    }
}

extension XML.Error {
    static let outOfMemory = XML.Error(.outOfMemory, "not enough memory is available")
}

extension XML.Error: LocalizedError, CustomStringConvertible {
    /// The message and the position on one line. Control characters of the document are escaped as `\u001B`.
    public var description: String {
        var place: [String] = []
        if let line { place.append("line \(line)") }
        if let column { place.append("column \(column)") }
        if line == nil, let byteOffset { place.append("byte \(byteOffset)") }
        if let path, !path.isEmpty { place.append("in \(path)") }
        return TerminalText.line(place.isEmpty ? message : "\(message) (\(place.joined(separator: ", ")))")
    }

    /// The same text as ``description``.
    public var errorDescription: String? { description }
}

// MARK: - Names

/// Names without a colon (Namespaces in XML 1.0, section 3; XML 1.0, fifth edition, section 2.3).
enum XMLName {
    /// Returns whether a string is a valid name.
    static func isValid(_ text: String) -> Bool {
        guard let first = text.unicodeScalars.first, isStart(first) else { return false }
        return text.unicodeScalars.dropFirst().allSatisfy { isStart($0) || isPart($0) }
    }

    private static func isStart(_ character: Unicode.Scalar) -> Bool {
        switch character.value {
        case 0x41...0x5A, 0x5F, 0x61...0x7A, 0xC0...0xD6, 0xD8...0xF6, 0xF8...0x2FF, 0x370...0x37D, 0x37F...0x1FFF,
            0x200C...0x200D, 0x2070...0x218F, 0x2C00...0x2FEF, 0x3001...0xD7FF, 0xF900...0xFDCF, 0xFDF0...0xFFFD,
            0x10000...0xEFFFF:
            true
        default: false
        }
    }

    private static func isPart(_ character: Unicode.Scalar) -> Bool {
        switch character.value {
        case 0x2D, 0x2E, 0x30...0x39, 0xB7, 0x300...0x36F, 0x203F...0x2040: true
        default: false
        }
    }
}

/// Namespaces with a predefined meaning.
enum XMLNamespaces {
    /// The namespace of `xsi:nil` (XML Schema Part 1, section 2.6).
    static let schemaInstance = "http://www.w3.org/2001/XMLSchema-instance"
    /// The namespace of the prefix `xml` (Namespaces in XML 1.0, section 3).
    static let xml = "http://www.w3.org/XML/1998/namespace"
}

// MARK: - Characters

/// The characters that XML 1.0 allows in text (section 2.2).
enum XMLCharacters {
    /// Returns the first character that XML can't represent, not even as a reference.
    static func firstForbidden(in text: String) -> Unicode.Scalar? {
        // Forbidden characters are below U+0020 or begin with 0xEF in UTF-8.
        guard text.utf8.contains(where: { $0 < 0x20 || $0 == 0xEF }) else { return nil }
        return text.unicodeScalars.first { character in
            switch character.value {
            case 0x09, 0x0A, 0x0D: false
            case ..<0x20, 0xFFFE, 0xFFFF: true
            default: false
            }
        }
    }
}

extension UInt8 {
    /// Whether the byte is white space in XML (XML 1.0, section 2.3).
    var isXMLSpace: Bool { self == 0x20 || self == 0x0A || self == 0x0D || self == 0x09 }
}
