public import Foundation
public import HTTPTypes

#if canImport(FoundationNetworking)
    public import FoundationNetworking
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
    /// A Boolean value that indicates whether the response comes from a cache instead of the server. The cookies of a stored response are
    /// ignored.
    public let isStored: Bool
    private let storage: Storage
    private let made = InlineLocked(Made())

    /// Creates a head from parsed fields, for transports and stages that have no raw bytes.
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

    /// The size of the raw bytes; 0 for a head that was created from parsed fields.
    package var byteCount: Int { if case .raw(let raw) = storage { raw.byteCount } else { 0 } }

    /// Returns the date in a field such as `Last-Modified` (RFC 9110, section 5.6.7). Nil if the field is missing or isn't a date.
    public func date(for name: HTTPField.Name) -> Date? {
        value(for: name).flatMap(HTTPDate.parse).map { Date(timeIntervalSince1970: TimeInterval($0)) }
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

    /// The time at which the server created the response (`Date`, RFC 9110, section 6.6.1); nil if the field is missing, repeated or
    /// invalid.
    public var date: Date? {
        let values = values(for: .date)
        guard values.count == 1, let seconds = HTTPDate.parse(values[0]) else { return nil }
        return Date(timeIntervalSince1970: TimeInterval(seconds))
    }

    /// The head as a Foundation `HTTPURLResponse`; nil if the URL is invalid.
    public var httpURLResponse: HTTPURLResponse? {
        if let response = made.withLock({ $0.httpURLResponse }) { return response }
        guard let url = URL(keepingEscapesOf: url) else { return nil }
        var names: [String: String] = [:]
        var joined: [String: String] = [:]
        for field in fields {
            // If names differ only in case, Foundation keeps one at random.
            let name = names[field.name.canonicalName, default: field.name.rawName]
            names[field.name.canonicalName] = name
            joined[name] = joined[name].map { "\($0), \(field.value)" } ?? field.value
        }
        let response = HTTPURLResponse(url: url, statusCode: status, httpVersion: httpVersion, headerFields: joined)
        made.withLock { $0.httpURLResponse = response }
        return response
    }
}

/// The raw lines of a response's head: a status line, then `name: value` lines, each ended by LF or CRLF.
package struct RawHead: Sendable {
    private let bytes: [UInt8]

    package init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    var byteCount: Int { bytes.count }

    package func fields() -> HTTPFields {
        var fields = HTTPFields()
        forEachLine { name, value in
            guard let name = HTTPField.Name(String(decoding: name, as: UTF8.self)) else { return }
            fields.append(HTTPField(name: name, value: Self.text(value, of: name.canonicalName)))
        }
        return fields
    }

    /// Returns the values of the lines with this name. The name must be in lowercase.
    package func values(for lowercasedName: String) -> [String] {
        var values: [String] = []
        forEachValue(of: lowercasedName) { values.append(Self.text($0, of: lowercasedName)) }
        return values
    }

    /// Returns the values of the lines with this name, together with their encoding. The name must be in lowercase.
    func texts(for lowercasedName: String) -> [FieldText] {
        var texts: [FieldText] = []
        forEachValue(of: lowercasedName) { texts.append(Self.text($0)) }
        return texts
    }

    private func forEachValue(of lowercasedName: String, _ body: (ArraySlice<UInt8>) -> Void) {
        var offset = bytes.startIndex
        while let start = startOfValue(of: lowercasedName, after: offset) {
            offset = endOfField(from: start)
            body(Self.trimmed(bytes[start..<offset]))
            // The next search begins with the line feed.
            offset -= 1
        }
    }

    /// Returns whether there is a line with this name. The name must be in lowercase. Doesn't allocate memory.
    func contains(_ lowercasedName: String) -> Bool {
        startOfValue(of: lowercasedName, after: bytes.startIndex) != nil
    }

    /// Finds the first line after an offset that has this name, and returns the start of the line's value.
    private func startOfValue(of lowercasedName: String, after offset: Int) -> Int? {
        let (first, length) = (lowercasedName.utf8.first, lowercasedName.utf8.count)
        return bytes.withUnsafeBytes { buffer in
            var rest = buffer[offset...]
            while let end = rest.firstLineFeed {
                rest = rest[(end + 1)...]
                guard rest.count > length, rest[rest.startIndex].asciiLowercased == first,
                    rest[rest.startIndex + length] == 0x3A
                else { continue }
                if zip(rest, lowercasedName.utf8).allSatisfy({ $0.asciiLowercased == $1 }) {
                    return rest.startIndex + length + 1
                }
            }
            return nil
        }
    }

    /// Calls `body` with the name and value of each field line. Values are trimmed, but still contain the line breaks of obsolete line
    /// folding.
    private func forEachLine(_ body: (ArraySlice<UInt8>, ArraySlice<UInt8>) -> Void) {
        var start = bytes.startIndex
        var isStatusLine = true
        while start < bytes.endIndex {
            let end = endOfField(from: start)
            let line = bytes[start..<end]
            if !isStatusLine, let colon = line.firstIndex(of: 0x3A) {
                body(line[..<colon], Self.trimmed(line[line.index(after: colon)...]))
            }
            isStatusLine = false
            start = end
        }
    }

    /// Returns the end of a field's last line. Leading white space continues the previous line (RFC 9112, section 5.2).
    private func endOfField(from start: Int) -> Int {
        bytes.withUnsafeBytes { buffer in
            var end = start
            repeat {
                end = buffer[end...].firstLineFeed.map { $0 + 1 } ?? buffer.endIndex
            } while end < buffer.endIndex && (buffer[end] == 0x20 || buffer[end] == 0x09)
            return end
        }
    }

    private static func trimmed(_ value: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let isSpace: (UInt8) -> Bool = { $0 == 0x20 || $0 == 0x09 || $0 == 0x0D || $0 == 0x0A }
        guard let first = value.firstIndex(where: { !isSpace($0) }),
            let last = value.lastIndex(where: { !isSpace($0) })
        else { return [] }
        return value[first...last]
    }

    private static func text(_ value: ArraySlice<UInt8>) -> FieldText {
        guard value.contains(where: { $0 == 0x0A || $0 == 0x0D }) else { return FieldText(value) }
        let lines = value.split { $0 == 0x0A || $0 == 0x0D }.map { trimmed($0) }
        return FieldText(Array(lines.joined(separator: CollectionOfOne(0x20))))
    }

    private static func text(_ value: ArraySlice<UInt8>, of lowercasedName: String) -> String {
        let text = text(value)
        let isReference = lowercasedName == "location" || lowercasedName == "content-location"
        return isReference ? text.reference : text.text
    }
}

extension Slice<UnsafeRawBufferPointer> {
    fileprivate var firstLineFeed: Int? {
        let bytes = UnsafeRawBufferPointer(rebasing: self)
        guard let start = bytes.baseAddress, let found = memchr(start, 0x0A, bytes.count) else { return nil }
        return startIndex + (UnsafeRawPointer(found) - start)
    }
}

/// The value of a field as text. Bytes that aren't valid UTF-8 are read as ISO-8859-1 (RFC 9110, section 5.5).
package struct FieldText: Sendable {
    package let text: String
    /// Whether each character represents one byte.
    package let isLatin1: Bool

    package init(_ bytes: some Collection<UInt8>) {
        if let text = String(validating: bytes, as: UTF8.self) {
            (self.text, isLatin1) = (text, false)
        } else {
            var text = String.UnicodeScalarView()
            text.append(contentsOf: bytes.lazy.map { Unicode.Scalar($0) })
            (self.text, isLatin1) = (String(text), true)
        }
    }

    /// The value of a field that contains a URL. Non-ASCII bytes of ISO-8859-1 are percent-encoded, since URLs consist of bytes.
    var reference: String {
        guard isLatin1 else { return text }
        return text.unicodeScalars.reduce(into: "") { reference, scalar in
            if scalar.isASCII {
                reference.unicodeScalars.append(scalar)
            } else {
                reference += "%" + String(scalar.value, radix: 16, uppercase: true)
            }
        }
    }
}
