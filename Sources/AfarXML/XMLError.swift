import AfarCore
public import Foundation

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
