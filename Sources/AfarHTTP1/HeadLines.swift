package import AfarTransport
import Foundation
package import HTTPTypes

/// Collects and checks the lines of a response's head or of its trailer section (RFC 9112, sections 2.2, 4 and 5).
///
/// A line ends with CRLF, or with LF alone. Each byte is scanned once, regardless of how the input is divided.
struct HeadLines {
    /// `HTTPFields` traps beyond 65,535 fields.
    private static let largestFieldCount = 65_000
    private static let prefix = Array("HTTP/".utf8)

    private let maximumBytes: Int
    private let maximumFields: Int
    private let allowsLaterVersions: Bool
    /// The total size of all heads and trailers, in bytes.
    private(set) var byteCount = 0
    /// The complete lines, and the beginning of the next one.
    private var bytes: [UInt8] = []
    private var lineStart = 0
    private var fieldCount = 0
    private var isTrailer = false
    private var statusLine: StatusLine?
    private var fields = FramingFields()

    init(maximumBytes: Int, maximumFields: Int, allowsLaterVersions: Bool) {
        (self.maximumBytes, self.allowsLaterVersions) = (maximumBytes, allowsLaterVersions)
        self.maximumFields = min(maximumFields, Self.largestFieldCount)
    }

    var isEmpty: Bool { byteCount == 0 }

    /// Adds bytes up to the blank line that ends the section.
    ///
    /// - Returns: Whether the section is complete.
    mutating func append(_ input: UnsafeRawBufferPointer, from offset: inout Int) throws(Fault) -> Bool {
        while offset < input.count {
            let rest = UnsafeRawBufferPointer(rebasing: input[offset...])
            let lineEnd = rest.firstIndex(of: 0x0A, before: rest.count)
            let count = lineEnd.map { $0 + 1 } ?? rest.count
            // The first invalid byte determines the error.
            if lineStart == 0, !isTrailer { try checkPrefix(rest[..<min(count, max(0, maximumBytes - byteCount))]) }
            byteCount += count
            guard byteCount <= maximumBytes else {
                throw Fault(.headTooLarge, "the response's head exceeds \(maximumBytes) bytes")
            }
            if bytes.isEmpty { bytes.reserveCapacity(512) }
            bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: rest[..<count]))
            offset += count
            guard lineEnd != nil else { return false }
            if try completeLine() { return true }
        }
        return false
    }

    var hasStatusLine: Bool { statusLine != nil }

    /// Returns the complete head, and prepares for the lines of another head or the trailer section.
    mutating func takeHead(url: String) throws(Fault) -> (ResponseHead, FramingFields) {
        guard let statusLine else { throw .malformed("the status line is missing") }
        let head = ResponseHead(
            status: statusLine.status, httpVersion: statusLine.version, raw: RawHead(bytes: bytes), url: url)
        let fields = fields
        (bytes, lineStart, fieldCount, self.statusLine, self.fields) = ([], 0, 0, nil, FramingFields())
        isTrailer = head.status >= 200
        return (head, fields)
    }

    /// The fields of the trailer section so far, except those that are forbidden there.
    var trailerFields: HTTPFields {
        guard isTrailer, lineStart > 0 else { return HTTPFields() }
        // RawHead skips the line before the first field.
        let fields = RawHead(bytes: [0x0A] + bytes[..<lineStart]).fields()
        return HTTPFields(fields.filter { !$0.name.isForbiddenInTrailers })
    }

    /// Rejects a response that isn't HTTP/1, such as an HTTP/0.9 response, as soon as its first bytes show this.
    private func checkPrefix(_ next: Slice<UnsafeRawBufferPointer>) throws(Fault) {
        guard bytes.count < Self.prefix.count else { return }
        let rest = next.prefix(Self.prefix.count - bytes.count)
        guard zip(rest, Self.prefix[bytes.count...]).allSatisfy(==) else { throw StatusLine.malformed(bytes + rest) }
    }

    /// Checks the line that has just been completed.
    ///
    /// - Returns: Whether the line is the blank line that ends the section.
    private mutating func completeLine() throws(Fault) -> Bool {
        var end = bytes.count - 1
        if end > lineStart, bytes[end - 1] == 0x0D { end -= 1 }
        let line = lineStart..<end
        guard !line.isEmpty else {
            bytes.removeSubrange(lineStart...)
            return true
        }
        // This is a copy because `self` changes while the bytes are read.
        let bytes = bytes
        try bytes.withUnsafeBytes { bytes in
            Result { () throws(Fault) in try check(UnsafeRawBufferPointer(rebasing: bytes[line])) }
        }.get()
        lineStart = bytes.count
        return false
    }

    private mutating func check(_ line: UnsafeRawBufferPointer) throws(Fault) {
        if line.firstIndex(of: 0x0D, before: line.count) != nil { fields.noteAmbiguity() }
        guard line[0] != 0x0D else {
            throw .malformed("a line begins with CR, but isn't empty (RFC 9112, section 2.2)")
        }
        guard line.firstIndex(of: 0, before: line.count) == nil else {
            throw .malformed("a line has a NUL byte (RFC 9110, section 5.5)")
        }
        guard lineStart == 0, !isTrailer else { return try noteField(line) }
        statusLine = try StatusLine(line, allowsLaterVersions: allowsLaterVersions)
    }

    private mutating func noteField(_ line: UnsafeRawBufferPointer) throws(Fault) {
        guard line[0] != 0x20, line[0] != 0x09 else {
            guard fieldCount > 0 else {
                throw .malformed("white space precedes the first field (RFC 9112, section 2.2)")
            }
            try fields.continueLast()
            return
        }
        guard let colon = line.firstIndex(of: 0x3A, before: line.count) else {
            throw .malformed("a field has no colon: \(Fault.quoted(line))")
        }
        fieldCount += 1
        guard fieldCount <= maximumFields else {
            throw Fault(.headTooLarge, "the response's head has more than \(maximumFields) fields")
        }
        if isTrailer { return }
        guard colon > 0 else { return fields.noteAmbiguity() }
        try fields.note(
            UnsafeRawBufferPointer(rebasing: line[..<colon]), UnsafeRawBufferPointer(rebasing: line[(colon + 1)...]))
    }
}

/// A status line (RFC 9112, section 4).
struct StatusLine {
    let version: String
    let status: Int

    /// Parses the version, a space, and exactly three digits. A reason can follow.
    ///
    /// - Parameter allowsLaterVersions: Whether `HTTP/2` and `HTTP/3` are accepted.
    init(_ line: UnsafeRawBufferPointer, allowsLaterVersions: Bool) throws(Fault) {
        let isLater =
            allowsLaterVersions && (line.starts(with: "HTTP/2 ".utf8) || line.starts(with: "HTTP/3 ".utf8))
        let space = isLater ? 6 : 8
        let end = space + 4
        guard line.count >= end, isLater || line.starts(with: "HTTP/1.".utf8) && line[7].isDigit,
            line[space] == 0x20, line.count == end || line[end] == 0x20,
            line[space + 1] != 0x30, line[(space + 1)..<end].allSatisfy(\.isDigit)
        else { throw Self.malformed(line) }
        version = line[7] == 0x31 && !isLater ? "HTTP/1.1" : String(decoding: line[..<space], as: UTF8.self)
        status = line[(space + 1)..<end].reduce(0) { $0 * 10 + Int($1 - 0x30) }
    }

    static func malformed(_ line: some Collection<UInt8>) -> Fault {
        .malformed("not a status line: \(Fault.quoted(line))")
    }
}

extension Fault {
    /// Creates the fault of an invalid response. The connection can't be reused.
    package static func malformed(_ message: String) -> Fault { Fault(.malformedResponse, message) }

    /// Returns the first bytes as text, without control characters.
    package static func quoted(_ bytes: some Collection<UInt8>) -> String {
        let text = String(decoding: bytes.prefix(60), as: UTF8.self)
        return "\""
            + String(String.UnicodeScalarView(text.unicodeScalars.filter { $0.properties.generalCategory != .control }))
            + "\""
    }
}

extension HTTPField.Name {
    /// Whether the field is for framing, routing, authentication, cookies or caching. These must not depend on trailers (RFC
    /// 9110, section 6.5.1).
    package var isForbiddenInTrailers: Bool { Self.forbiddenTrailers.contains(canonicalName) }

    private static let forbiddenTrailers: Set<String> = [
        "age", "alt-svc", "authorization", "cache-control", "clear-site-data", "connection", "content-encoding",
        "content-length", "content-range", "content-type", "cookie", "date", "expect", "expires", "host",
        "keep-alive", "location", "max-forwards", "proxy-authenticate", "proxy-authorization",
        "proxy-connection", "range", "set-cookie", "set-cookie2", "strict-transport-security", "te", "trailer",
        "transfer-encoding", "upgrade", "vary", "www-authenticate",
    ]
}

extension UnsafeRawBufferPointer {
    fileprivate func firstIndex(of byte: UInt8, before count: Int) -> Int? {
        guard let baseAddress, let found = memchr(baseAddress, Int32(byte), count) else { return nil }
        return UnsafeRawPointer(found) - baseAddress
    }
}
