import AfarTransport
import Foundation

/// The values of fields that both protocols use.
enum UploadFields {
    /// Parses at most 15 digits, the limit of an Integer in structured fields (RFC 9651, section 3.3.1).
    static func integer(_ text: some StringProtocol) -> Int64? {
        guard (1...15).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        return Int64(text)
    }

    /// Parses an Integer with or without parameters, which are ignored.
    static func integerItem(_ text: String) -> Int64? { integer(item(text)) }

    /// Parses a Boolean with or without parameters (RFC 9651, section 3.3.6).
    static func booleanItem(_ text: String) -> Bool? {
        switch item(text) {
        case "?1": true
        case "?0": false
        default: nil
        }
    }

    private static func item(_ text: String) -> Substring {
        let item = text.prefix { $0 != ";" }
        return item.trimmingSpaces
    }

    /// Parses a Dictionary of Integers. Returns nil if a member with one of the names has another type, because the whole field is then
    /// ignored.
    static func integers(_ text: String, named names: Set<String>) -> [String: Int64]? {
        var values: [String: Int64] = [:]
        for member in text.split(separator: ",").prefix(64) {
            let parts = member.trimmingSpaces.split(separator: "=", maxSplits: 1)
            guard let name = parts.first.map({ String($0.trimmingSpaces) }), names.contains(name) else { continue }
            guard parts.count == 2, let value = integerItem(String(parts[1])) else { return nil }
            values[name] = value
        }
        return values
    }
}

extension StringProtocol {
    fileprivate var trimmingSpaces: SubSequence {
        let start = firstIndex { $0 != " " && $0 != "\t" } ?? endIndex
        let end = lastIndex { $0 != " " && $0 != "\t" }.map { index(after: $0) } ?? start
        return self[start..<end]
    }
}

/// The URL that creates an upload, and the rules for URLs of uploads.
struct UploadEndpoint: Sendable {
    private static let longestLocation = 8 << 10

    let url: URL
    let allowsOtherOrigins: Bool

    /// - Throws: ``ResumableUploadError/invalidOptions(_:)`` if the URL doesn't have a host and the scheme http or https.
    init(_ url: URL, allowsOtherOrigins: Bool) throws(ResumableUploadError) {
        guard Origin(url) != nil else {
            throw .invalidOptions("The URL must be absolute, with http or https and a host.")
        }
        self.url = url
        self.allowsOtherOrigins = allowsOtherOrigins
    }

    /// The URL without user name, password, query and fragment, for a record.
    var recordedURL: String {
        guard var components = URLComponents(url: url, resolvingAgainstBaseURL: true) else { return "" }
        (components.user, components.password, components.query, components.fragment) = (nil, nil, nil, nil)
        return components.string ?? ""
    }

    /// Whether requests to the URL can have the credentials of this endpoint.
    func hasSameOrigin(_ other: URL) -> Bool { Origin(other) == Origin(url) }

    /// Returns the URL of an upload without user name, password and fragment.
    ///
    /// - Parameters:
    ///   - location: The value of a Location field.
    ///   - base: The URL of the response.
    func uploadURL(_ location: String?, relativeTo base: URL) throws(ResumableUploadError) -> URL {
        guard let location, !location.isEmpty else { throw .invalidLocation("is missing") }
        guard location.utf8.count <= Self.longestLocation else { throw .invalidLocation("is too long") }
        guard location.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F && $0 != UInt8(ascii: "\\") }) else {
            throw .invalidLocation("contains a space, a backslash or a control character")
        }
        guard let url = URL(keepingEscapesOf: location, relativeTo: base) else {
            throw .invalidLocation("isn't a valid URL")
        }
        return try checked(url)
    }

    /// Checks the URL of an upload, from a response or a record.
    func checked(_ url: URL) throws(ResumableUploadError) -> URL {
        guard var components = URLComponents(url: url, resolvingAgainstBaseURL: true), let origin = Origin(url) else {
            throw .invalidLocation("isn't a URL with http or https")
        }
        (components.user, components.password, components.fragment) = (nil, nil, nil)
        guard let cleaned = components.url else { throw .invalidLocation("isn't a valid URL") }
        let host = url.host(percentEncoded: true) ?? ""
        guard url.scheme?.lowercased() == "https" || self.url.scheme?.lowercased() != "https" else {
            throw .insecureLocation(host: host)
        }
        guard allowsOtherOrigins || origin == Origin(self.url) else { throw .otherOrigin(host: host) }
        return cleaned
    }

    /// Returns the URL for requests, with the user name and password of this endpoint if the origin is the same.
    func requestURL(_ uploadURL: URL) -> URL {
        guard hasSameOrigin(uploadURL), url.user(percentEncoded: true) != nil,
            var components = URLComponents(url: uploadURL, resolvingAgainstBaseURL: true)
        else { return uploadURL }
        components.percentEncodedUser = url.user(percentEncoded: true)
        components.percentEncodedPassword = url.password(percentEncoded: true)
        return components.url ?? uploadURL
    }
}
