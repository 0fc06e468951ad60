import AfarCore
import AfarXML
import Foundation

/// XML as text for people.
enum XMLText {
    /// Whether a type is XML, a page in XHTML apart: its white space is for its author.
    static func isXML(_ type: MediaType) -> Bool { type.isXML && type.essence != "application/xhtml+xml" }

    /// The text indented by two spaces a level; nil when it is no XML, or has a document type, which would not come through
    /// whole.
    static func indented(_ text: String) -> String? {
        try? XML.Document(text).xmlString(prettyPrinted: true)
    }
}
