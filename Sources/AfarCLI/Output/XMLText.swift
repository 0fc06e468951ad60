import AfarXML
import Foundation

/// XML as text for people.
enum XMLText {
    /// Whether a content type says XML (RFC 7303, section 4.2), a page in XHTML apart: its white space is for its author.
    static func isXML(_ contentType: String) -> Bool {
        let type = contentType.prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces).lowercased()
        guard type != "application/xhtml+xml" else { return false }
        return type == "application/xml" || type == "text/xml" || type.hasSuffix("+xml")
    }

    /// The text indented by two spaces a level; nil when it is no XML, or has a document type, which would not come through
    /// whole.
    static func indented(_ text: String) -> String? {
        try? XML.Document(text).xmlString(prettyPrinted: true)
    }
}
