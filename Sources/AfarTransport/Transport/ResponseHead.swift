public import HTTPTypes

#if canImport(FoundationNetworking)
    import Foundation
    public import FoundationNetworking
#else
    public import Foundation
#endif

/// A response's status line and header fields.
///
/// A head from the network is stored as raw bytes. The parsed fields and Foundation's `HTTPURLResponse` are created on first use.
public final class ResponseHead: Sendable {
    private enum Storage {
        case raw(RawHead)
        case fields(HTTPFields)
    }

    private struct Made {
        var fields: HTTPFields?
        var httpURLResponse: HTTPURLResponse?
    }

    /// The status code (RFC 9110, section 15).
    public let status: Int
    /// The version in the status line, such as "HTTP/1.1".
    public let httpVersion: String
    /// The requested URL as text, with its fragment.
    public let url: String
    /// Whether the response comes from a cache instead of the server. Such a response sets no cookies.
    public let isStored: Bool
    private let storage: Storage
    private let made = InlineLocked(Made())

    /// Creates a head from parsed fields, for transports and stages that have no raw bytes.
    ///
    /// - Parameters:
    ///   - status: The status code.
    ///   - httpVersion: The version. The default is "HTTP/1.1".
    ///   - fields: The header fields. The default is none.
    ///   - url: The requested URL.
    ///   - isStored: Whether the response comes from a cache. The default is false.
    public init(
        status: Int, httpVersion: String = "HTTP/1.1", fields: HTTPFields = HTTPFields(), url: String,
        isStored: Bool = false
    ) {
        self.status = status
        self.httpVersion = httpVersion
        self.url = url
        self.isStored = isStored
        storage = .fields(fields)
    }

    /// Creates a head from raw bytes that have been validated.
    ///
    /// - Parameter isStored: Whether the response comes from a cache. The default is false.
    package init(status: Int, httpVersion: String, raw: RawHead, url: String, isStored: Bool = false) {
        self.status = status
        self.httpVersion = httpVersion
        self.url = url
        self.isStored = isStored
        storage = .raw(raw)
    }

    /// The header fields. Lines whose name isn't a token (RFC 9110, section 5.6.2) are omitted.
    ///
    /// A value that isn't valid UTF-8 is read as ISO-8859-1 (section 5.5). In fields that contain a URL (`Location`,
    /// `Content-Location`), the non-ASCII bytes of such a value are percent-encoded.
    public var fields: HTTPFields {
        switch storage {
        case .fields(let fields): return fields
        case .raw(let raw):
            if let fields = made.withLock({ $0.fields }) { return fields }
            let fields = raw.fields()
            made.withLock { $0.fields = fields }
            return fields
        }
    }

    /// Returns the values of a field, in order of arrival, without parsing the other fields.
    public func values(for name: HTTPField.Name) -> [String] {
        switch storage {
        case .fields(let fields): fields[values: name]
        case .raw(let raw): raw.values(for: name.canonicalName)
        }
    }

    /// Returns the values of a field together with their encoding.
    package func texts(for name: HTTPField.Name) -> [FieldText] {
        switch storage {
        case .fields(let fields): fields[fields: name].map { field in field.withUnsafeBytesOfValue { FieldText($0) } }
        case .raw(let raw): raw.texts(for: name.canonicalName)
        }
    }

    /// Whether there is a field with a name.
    package func contains(_ name: HTTPField.Name) -> Bool {
        switch storage {
        case .fields(let fields): fields.contains(name)
        case .raw(let raw): raw.contains(name.canonicalName)
        }
    }

    /// Returns the value of a field, or several values joined by commas (RFC 9110, section 5.3). Returns nil if there is no such
    /// field.
    public func value(for name: HTTPField.Name) -> String? {
        let values = values(for: name)
        return values.isEmpty ? nil : values.joined(separator: ", ")
    }

    /// The declared length of the body in bytes; nil without a valid `Content-Length`.
    public var contentLength: Int64? {
        values(for: .contentLength).first.flatMap { Int64($0) }.flatMap { $0 >= 0 ? $0 : nil }
    }

    /// The head as a Foundation `HTTPURLResponse`; nil if the URL is invalid.
    public var httpURLResponse: HTTPURLResponse? {
        if let response = made.withLock({ $0.httpURLResponse }) { return response }
        guard let url = URL(keepingEscapesOf: url) else { return nil }
        var names: [String: String] = [:]
        var joined: [String: String] = [:]
        for field in fields {
            // If names differ only in case, Foundation would keep a random one of them.
            let name = names[field.name.canonicalName, default: field.name.rawName]
            names[field.name.canonicalName] = name
            joined[name] = joined[name].map { "\($0), \(field.value)" } ?? field.value
        }
        let response = HTTPURLResponse(url: url, statusCode: status, httpVersion: httpVersion, headerFields: joined)
        made.withLock { $0.httpURLResponse = response }
        return response
    }
}
