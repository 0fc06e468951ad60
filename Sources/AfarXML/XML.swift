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
    /// What is wrong with a document or an expression, and where.
    public struct Error: Swift.Error, Hashable, Sendable {
        /// What went wrong.
        public let kind: Kind
        /// What went wrong, in words.
        public let message: String
        /// The line, from 1.
        public let line: Int?
        /// The column, from 1: in characters of the line, as libxml2 counts.
        public let column: Int?
        /// The byte, from 0: of the document in UTF-8. In an XPath expression: of the expression.
        public let byteOffset: Int?
        /// The elements that are open there, as in `/feed/entry/title`.
        public let path: String?

        /// Makes an error.
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
    /// What can go wrong.
    public enum Kind: Hashable, Sendable {
        /// There is no byte to parse, or white space only.
        case emptyDocument
        /// The document is not well-formed: broken, truncated, of undeclared prefixes, or followed by something.
        case malformed
        /// The bytes are not of the document's encoding.
        case invalidBytes
        /// The encoding's name is not known.
        case unsupportedEncoding
        /// There is a document type declaration, and ``XML/ParsingOptions/documentType`` refuses it.
        case documentTypeRefused
        /// An entity is referred to that XML itself does not define. Those that a document declares are never expanded.
        case entityRefused
        /// The document goes past a limit of ``XML/ParsingOptions``, or past one that libxml2 has itself.
        case limitExceeded
        /// An XPath expression does not compile, or uses a prefix, variable or function that is not there.
        case invalidXPath
        /// An XPath expression takes more steps than are allowed, is too long, or has brackets that lie too deep in each other.
        case xpathTooComplex
        /// The memory does not suffice.
        case outOfMemory
    }
}

extension XML.Error {
    static let outOfMemory = XML.Error(.outOfMemory, "the memory does not suffice")
}

extension XML.Error: LocalizedError, CustomStringConvertible {
    /// One line with the place; control characters of the document are written as `\u001B`.
    public var description: String {
        var place: [String] = []
        if let line { place.append("line \(line)") }
        if let column { place.append("column \(column)") }
        if line == nil, let byteOffset { place.append("byte \(byteOffset)") }
        if let path, !path.isEmpty { place.append("in \(path)") }
        return TerminalText.line(place.isEmpty ? message : "\(message) (\(place.joined(separator: ", ")))")
    }

    /// One line with the place.
    public var errorDescription: String? { description }
}

// MARK: - Names

/// Names without a colon (Namespaces in XML 1.0, section 3; XML 1.0, fifth edition, section 2.3).
enum XMLName {
    /// Whether text is a name.
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

/// Names of namespaces that have a meaning by themselves.
enum XMLNamespaces {
    /// `xsi:nil` is of it (XML Schema Part 1, section 2.6).
    static let schemaInstance = "http://www.w3.org/2001/XMLSchema-instance"
    /// What the prefix `xml` stands for (Namespaces in XML 1.0, section 3).
    static let xml = "http://www.w3.org/XML/1998/namespace"
}

// MARK: - Characters

/// What text may hold in XML 1.0 (section 2.2).
enum XMLCharacters {
    /// The first character that no document can carry, not even as a reference.
    static func firstForbidden(in text: String) -> Unicode.Scalar? {
        // All of them are below a space, or begin with 0xEF in UTF-8.
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
    /// Whether this is XML's white space (XML 1.0, section 2.3).
    var isXMLSpace: Bool { self == 0x20 || self == 0x0A || self == 0x0D || self == 0x09 }
}
