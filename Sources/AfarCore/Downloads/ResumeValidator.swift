import HTTPTypes

/// What tells whether a file on a server is still, byte for byte, the one of which a part is there.
package enum ResumeValidator: Sendable, Equatable {
    /// A strong entity tag, with its quotes.
    case entityTag(String)
    /// The date of the last change, as the server wrote it.
    case lastModified(String)

    /// So many seconds between the last change and the response make a date strong: a change in the same second would
    /// not show, and clocks differ (RFC 9110, section 8.8.2.2).
    private static let strongAge = 60

    /// The validator of a response, nil when it has none that may be used with If-Range (RFC 9110, section 13.1.5): an
    /// entity tag has to be strong, and a date counts only where there is no entity tag.
    init?(_ head: ResponseHead) {
        if let tag = head.value(for: .eTag) {
            guard Self.isStrong(tag) else { return nil }
            self = .entityTag(tag)
        } else if let text = head.value(for: .lastModified), let change = HTTPDate.parse(text),
            let response = head.value(for: .date).flatMap(HTTPDate.parse), response - change >= Self.strongAge
        {
            self = .lastModified(text)
        } else {
            return nil
        }
    }

    /// The validator in resume data, nil when it cannot have come from a response.
    init?(entityTag: String?, lastModified: String?) {
        if let entityTag {
            guard Self.isStrong(entityTag) else { return nil }
            self = .entityTag(entityTag)
        } else if let lastModified, HTTPDate.parse(lastModified) != nil {
            self = .lastModified(lastModified)
        } else {
            return nil
        }
    }

    /// The value of If-Range.
    var text: String {
        switch self {
        case .entityTag(let text), .lastModified(let text): text
        }
    }

    /// Whether a partial response says that it is of another file. One that says nothing is taken at its word: it was
    /// asked under the condition of this validator.
    func isContradicted(by head: ResponseHead) -> Bool {
        let name: HTTPField.Name =
            switch self {
            case .entityTag: .eTag
            case .lastModified: .lastModified
            }
        return head.value(for: name).map { $0 != text } ?? false
    }

    /// RFC 9110, section 8.8.3: in quotes, and without `W/` before them.
    private static func isStrong(_ tag: String) -> Bool {
        let quote = UInt8(ascii: "\"")
        return tag.utf8.count >= 2 && tag.utf8.first == quote && tag.utf8.last == quote
            && tag.utf8.dropFirst().dropLast().allSatisfy { $0 >= 0x20 && $0 != 0x7F && $0 != quote }
    }
}
