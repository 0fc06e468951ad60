public import HTTPTypes

#if canImport(FoundationNetworking)
    import Foundation
    public import FoundationNetworking
#else
    public import Foundation
#endif

/// A response's status line and header fields.
///
/// A head that came from the network stays raw bytes: the parsed fields and Foundation's `HTTPURLResponse` are made
/// when somebody asks for them, once.
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
    /// The version as it stands in the status line, "HTTP/1.1" say.
    public let httpVersion: String
    /// The URL that was asked, as text, with its fragment.
    public let url: String
    /// Whether it comes from a cache, and not from the server that was asked. Such a response sets no cookies.
    public let isStored: Bool
    private let storage: Storage
    private let made = InlineLocked(Made())

    /// Makes a head from parsed fields, for transports and stages that have no raw bytes.
    ///
    /// - Parameters:
    ///   - status: The status code.
    ///   - httpVersion: The version. The default is "HTTP/1.1".
    ///   - fields: The header fields. The default is none.
    ///   - url: The URL that was asked.
    ///   - isStored: Whether it comes from a cache. The default is false.
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

    /// Makes a head from raw bytes that have been checked.
    ///
    /// - Parameter isStored: Whether it comes from a cache. The default is false.
    package init(status: Int, httpVersion: String, raw: RawHead, url: String, isStored: Bool = false) {
        self.status = status
        self.httpVersion = httpVersion
        self.url = url
        self.isStored = isStored
        storage = .raw(raw)
    }

    /// The header fields. A line whose name is no token (RFC 9110, section 5.6.2) is left out.
    ///
    /// A value that isn't valid UTF-8 is read as ISO-8859-1 (section 5.5). In a URL (`Location`, `Content-Location`), the bytes of
    /// such a value that aren't ASCII are percent-encoded.
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

    /// The values under a name, in order of arrival, without making all fields.
    public func values(for name: HTTPField.Name) -> [String] {
        switch storage {
        case .fields(let fields): fields[values: name]
        case .raw(let raw): raw.values(for: name.canonicalName)
        }
    }

    /// The same with how they were encoded.
    package func texts(for name: HTTPField.Name) -> [FieldText] {
        switch storage {
        case .fields(let fields): fields[fields: name].map { field in field.withUnsafeBytesOfValue { FieldText($0) } }
        case .raw(let raw): raw.texts(for: name.canonicalName)
        }
    }

    /// Whether there is a field of a name.
    package func contains(_ name: HTTPField.Name) -> Bool {
        switch storage {
        case .fields(let fields): fields.contains(name)
        case .raw(let raw): raw.contains(name.canonicalName)
        }
    }

    /// The value under a name, several joined by a comma (RFC 9110, section 5.3), nil when there is none.
    public func value(for name: HTTPField.Name) -> String? {
        let values = values(for: name)
        return values.isEmpty ? nil : values.joined(separator: ", ")
    }

    /// The body's declared length in bytes, nil when there is no usable Content-Length.
    public var contentLength: Int64? {
        values(for: .contentLength).first.flatMap { Int64($0) }.flatMap { $0 >= 0 ? $0 : nil }
    }

    /// Foundation's form of this head, nil when the URL cannot be read.
    public var httpURLResponse: HTTPURLResponse? {
        if let response = made.withLock({ $0.httpURLResponse }) { return response }
        guard let url = URL(keepingEscapesOf: url) else { return nil }
        var names: [String: String] = [:]
        var joined: [String: String] = [:]
        for field in fields {
            // Foundation would keep one at random of names that differ in case only.
            let name = names[field.name.canonicalName, default: field.name.rawName]
            names[field.name.canonicalName] = name
            joined[name] = joined[name].map { "\($0), \(field.value)" } ?? field.value
        }
        let response = HTTPURLResponse(url: url, statusCode: status, httpVersion: httpVersion, headerFields: joined)
        made.withLock { $0.httpURLResponse = response }
        return response
    }
}
