public import Foundation
import HTTPTypes

#if canImport(FoundationNetworking)
    package import FoundationNetworking
#endif

/// The data for resuming an interrupted download: the request, a validator of the file, and the location of the part that has
/// arrived.
package struct ResumeData: Sendable, Equatable {
    /// The URL, without user name and password.
    package var url: URL
    /// The request's header fields, without any that contain credentials.
    package var headers: HTTPHeaders
    /// The origin of the bytes. After redirects, it can differ from the origin of the URL. A validator is valid only for its
    /// origin (RFC 9110, section 8.8.3).
    package var origin: Origin?
    /// Verifies that the file on the server is unchanged.
    package var validator: ResumeValidator
    package var path: String
    /// The number of valid bytes in the file at `path`.
    package var byteCount: Int64
    /// The length of the whole file, or nil if the server didn't send it.
    package var totalLength: Int64?
    /// Whether the caller moved the download to another URL, and no response from that URL has confirmed that the file is the same.
    package var isRelocated = false

    /// - Parameter origin: Nil for the URL's origin.
    package init(
        url: URL, headers: HTTPHeaders, origin: Origin? = nil, validator: ResumeValidator, path: String,
        byteCount: Int64, totalLength: Int64?
    ) {
        self.url = url
        self.headers = headers
        self.origin = origin ?? Origin(url)
        self.validator = validator
        self.path = path
        self.byteCount = byteCount
        self.totalLength = totalLength
    }

    /// Creates resume data for a response whose body hasn't arrived yet. Returns nil if the download couldn't be resumed.
    /// Resuming requires a complete response to a GET, an unencoded body, and a usable validator.
    ///
    /// - Parameter request: The request before adapters, because the next request is adapted as well.
    init?(_ head: ResponseHead, to request: URLRequest, in file: URL) {
        guard head.status == 200, request.httpMethod ?? "GET" == "GET", !head.isEncoded,
            head.value(for: .acceptRanges)?.lowercased() != "none", let validator = ResumeValidator(head),
            let url = request.url.flatMap(Self.withoutUserinfo)
        else { return nil }
        self.init(
            url: url, headers: Self.storableHeaders(request.headers), origin: head.origin, validator: validator,
            path: file.path, byteCount: 0,
            totalLength: head.values(for: .transferEncoding).isEmpty ? head.contentLength : nil)
    }

    /// Returns the request for the file, without the fields that request a range.
    ///
    /// - Parameter sensitiveHeaders: The names of headers to omit, in addition to the known sensitive headers. Other code that
    ///   stored the resume data might have added these headers.
    func urlRequest(without sensitiveHeaders: Set<String> = []) throws -> URLRequest {
        var request = try URLRequest(url: url, method: .get, headers: Self.storableHeaders(headers))
        for name in sensitiveHeaders { request.setValue(nil, forHTTPHeaderField: name) }
        return request
    }

    package func isPart(of request: URLRequest) -> Bool {
        request.httpMethod ?? "GET" == "GET" && request.url.flatMap(Self.withoutUserinfo) == url
            && request.value(forHTTPHeaderField: "Range") == nil
    }

    /// Returns the fields that request the bytes from an offset to the end if the file is unchanged (RFC 9110, sections 14.2 and
    /// 13.1.5).
    func fields(from offset: Int64) -> HTTPHeaders {
        // Don't request a content coding, because decoding can't start in the middle.
        ["Range": "bytes=\(offset)-", "If-Range": validator.text, "Accept-Encoding": "identity"]
    }

    /// Returns the URL without user name and password. URLs are stored and compared in this form.
    package static func withoutUserinfo(_ url: URL) -> URL? {
        guard var components = URLComponents(url: url, resolvingAgainstBaseURL: true) else { return nil }
        (components.user, components.password) = (nil, nil)
        return components.url
    }

    private static func storableHeaders(_ headers: HTTPHeaders) -> HTTPHeaders {
        let excludedNames: Set = ["range", "accept-encoding", "content-length", "transfer-encoding", "host"]
        return HTTPHeaders(
            headers.filter { header in
                let name = header.name.lowercased()
                // A URL in a value can contain a credential.
                return !excludedNames.contains(name) && !name.hasPrefix("if-")
                    && Redaction.standard.value(header.value, of: name) == header.value
            }
            .sorted { $0.name < $1.name })
    }
}

extension ResponseHead {
    var origin: Origin? { URL(keepingEscapesOf: url).flatMap { Origin($0) } }

    /// Whether the body has a content coding (RFC 9110, section 8.4).
    var isEncoded: Bool {
        values(for: .contentEncoding).contains { $0.lowercased() != "identity" }
    }

    /// The value for an `If-Range` header that requests another part of the same file, or nil if the response doesn't identify the file's
    /// bytes (RFC 9110, section 13.1.5).
    ///
    /// This is a strong `ETag` or, without any `ETag`, a `Last-Modified` date that is at least a minute before the response's `Date`
    /// (section 8.8.2.2).
    public var strongValidator: String? { ResumeValidator(self)?.text }
}

/// A validator that verifies that a file on a server is unchanged, byte for byte.
package enum ResumeValidator: Sendable, Equatable {
    /// A strong entity tag, with its quotes.
    case entityTag(String)
    /// The date of the last modification, as the server sent it.
    case lastModified(String)

    /// A modification date is a strong validator if the date of the response is at least this many seconds later. Without this
    /// distance, the file could change again within the same second and keep its date. Clocks can also differ (RFC 9110,
    /// section 8.8.2.2).
    private static let strongAge = 60

    /// Creates the validator of a response. Returns nil if the response has no validator that is valid in If-Range (RFC 9110,
    /// section 13.1.5). An entity tag must be strong. A date is used only without an entity tag.
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

    /// Creates the validator from the members of decoded resume data. Returns nil if the entity tag isn't strong, the date
    /// can't be parsed, or both are missing.
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

    var text: String {
        switch self {
        case .entityTag(let text), .lastModified(let text): text
        }
    }

    /// Returns whether a partial response has a different validator. A response without a validator is accepted, because the
    /// request was conditional on this validator.
    func isContradicted(by head: ResponseHead) -> Bool {
        let name: HTTPField.Name =
            switch self {
            case .entityTag: .eTag
            case .lastModified: .lastModified
            }
        return head.value(for: name).map { $0 != text } ?? false
    }

    /// Returns whether an entity tag is strong: in quotes, without a `W/` prefix (RFC 9110, section 8.8.3).
    private static func isStrong(_ tag: String) -> Bool {
        let quote = UInt8(ascii: "\"")
        return tag.utf8.count >= 2 && tag.utf8.first == quote && tag.utf8.last == quote
            && tag.utf8.dropFirst().dropLast().allSatisfy { $0 >= 0x20 && $0 != 0x7F && $0 != quote }
    }
}

// MARK: - Responses

extension ResumeData {
    /// The meaning of a server's response to a request for the rest of a file.
    enum ResponseKind: Equatable {
        /// Exactly the rest of the file follows. The associated value is the length of the whole file.
        case remainder(totalLength: Int64)
        /// The whole file follows from its first byte: the file has changed, or the server doesn't support ranges.
        case whole
        /// The part already has the length of the whole file. The response doesn't confirm that the part's bytes still match
        /// the file on the server.
        case alreadyComplete(totalLength: Int64)
        /// The response can't be used: its bytes can't be appended, or the server refused the range.
        case unusable
        /// The response isn't the file: an error or a redirect.
        case other
    }

    /// - Parameter offset: The first byte requested.
    func kind(of head: ResponseHead, from offset: Int64) -> ResponseKind {
        switch head.status {
        case 200, 203: .whole
        case 206: partialContentKind(of: head, from: offset)
        case 416: unsatisfiableRangeKind(of: head)
        default: .other
        }
    }

    /// Returns the meaning of a partial response (RFC 9110, section 15.3.7). Two parts can be combined only if they have the same
    /// validator and the same length of the whole file, and there is no gap between them. A validator is valid only for its origin.
    /// If the caller moved the download to another URL, the response must repeat the validator and the length.
    private func partialContentKind(of head: ResponseHead, from offset: Int64) -> ResponseKind {
        let isSameFile =
            isRelocated
            ? totalLength != nil && ResumeValidator(head) == validator
            : head.origin == origin && !validator.isContradicted(by: head)
        guard !head.isEncoded, isSameFile,
            let range = head.value(for: .contentRange).flatMap(ContentRange.init), let bytes = range.bytes,
            let length = range.totalLength ?? totalLength,
            bytes.lowerBound == offset, bytes.upperBound == length - 1, length == totalLength ?? length,
            head.contentLength.map({ $0 == length - offset }) ?? true
        else { return .unusable }
        return .remainder(totalLength: length)
    }

    /// Returns the meaning of a response to an unsatisfiable range (RFC 9110, section 15.5.17).
    private func unsatisfiableRangeKind(of head: ResponseHead) -> ResponseKind {
        guard let range = head.value(for: .contentRange).flatMap(ContentRange.init), range.bytes == nil,
            let length = range.totalLength, length == byteCount, totalLength == nil
        else { return .unusable }
        return .alreadyComplete(totalLength: length)
    }
}

/// The value of a `Content-Range` header: the range of the body in the whole file, or the file's length if the requested range
/// doesn't exist (RFC 9110, section 14.4).
public struct ContentRange: Sendable, Hashable {
    /// The bytes that follow, or nil if the requested range doesn't exist: `bytes */1234`.
    public let bytes: ClosedRange<Int64>?
    /// The length of the whole file in bytes, or nil for `*`.
    public let totalLength: Int64?

    /// Creates a range from the value of the header. Returns nil if the unit isn't bytes or the value is invalid.
    public init?(_ value: String) {
        let parts = value.split(separator: " ", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].lowercased() == "bytes" else { return nil }
        let sides = parts[1].split(separator: "/", omittingEmptySubsequences: false)
        guard sides.count == 2 else { return nil }
        totalLength = Self.number(sides[1])
        guard totalLength != nil || sides[1] == "*" else { return nil }
        guard sides[0] != "*" else {
            bytes = nil
            return
        }
        let ends = sides[0].split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, let first = Self.number(ends[0]), let last = Self.number(ends[1]), first <= last,
            last < totalLength ?? .max
        else { return nil }
        bytes = first...last
    }

    /// Accepts only digits, because `Int64` would also accept a sign.
    private static func number(_ text: Substring) -> Int64? {
        text.utf8.allSatisfy(\.isDigit) ? Int64(text) : nil
    }
}

// MARK: - Coding

/// The encoded form of resume data.
///
/// It consists of a line of ASCII that ends with a line feed, followed by a JSON object in UTF-8:
///
///     AfarResumeData/1 crc32=3610a686
///     {"byteCount":1048576,"headers":[["Accept","*/*"]],"path":"/tmp/afar-x/download",…}
///
/// The number after the slash is the version of the format. The checksum of the object's bytes is a CRC-32 as in gzip and PNG, in
/// eight hexadecimal digits. The object has these members:
///
/// - `url`
/// - `headers`: A list of names and values.
/// - `entityTag` or `lastModified`: The validator as the server sent it.
/// - `origin`: The origin of the validator, if redirects changed it from the origin of `url`.
/// - `path`: The partial file.
/// - `byteCount`: The number of valid bytes in the file.
/// - `totalLength`: The length of the whole file, if the server sent it.
/// - `isRelocated`: True if the caller replaced the URL, and no response from the new URL has been used yet.
extension ResumeData {
    private static let magic = "AfarResumeData/"
    private static let version = 1
    /// The maximum size of encoded resume data in bytes. It leaves room for any request's headers.
    private static let largestSize = 1 << 20

    private struct Members: Codable {
        var url: URL
        var headers: [[String]]
        var origin: URL?
        var entityTag: String?
        var lastModified: String?
        var path: String
        var byteCount: Int64
        var totalLength: Int64?
        var isRelocated: Bool?
    }

    /// Returns the resume data in the format described above.
    package func encoded() -> Data {
        var members = Members(
            url: url, headers: headers.map { [$0.name, $0.value] }, path: path, byteCount: byteCount,
            totalLength: totalLength)
        if isRelocated { members.isRelocated = true }
        if origin != Origin(url) { members.origin = origin.flatMap { URL(string: $0.text) } }
        switch validator {
        case .entityTag(let text): members.entityTag = text
        case .lastModified(let text): members.lastModified = text
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Encoding text and integers can't fail.
        let object = (try? encoder.encode(members)) ?? Data()
        return Data("\(Self.magic)\(Self.version) crc32=\(Self.checksum(of: object))\n".utf8) + object
    }

    /// Decodes the output of ``encoded()``.
    package init(decoding data: Data) throws(ResumeDataError) {
        guard data.starts(with: Self.magic.utf8) else { throw .notResumeData }
        guard let end = data.prefix(100).firstIndex(of: 0x0A), data.count <= Self.largestSize else { throw .damaged }
        let words = String(decoding: data[..<end].dropFirst(Self.magic.utf8.count), as: UTF8.self).split(separator: " ")
        guard let version = words.first.flatMap({ Int($0) }), version > 0 else { throw .damaged }
        guard version <= Self.version else { throw .newerVersion(version) }
        let object = data[(end + 1)...]
        guard words.count == 2, words[1] == "crc32=\(Self.checksum(of: object))",
            // Foundation's decoder can crash on input that ends with an opening bracket.
            object.last == UInt8(ascii: "}"),
            let members = try? JSONDecoder().decode(Members.self, from: object),
            let url = Self.withoutUserinfo(members.url),
            let validator = ResumeValidator(entityTag: members.entityTag, lastModified: members.lastModified),
            members.headers.allSatisfy({ $0.count == 2 }), members.byteCount >= 0, members.totalLength ?? 0 >= 0
        else { throw .damaged }
        self.init(
            url: url, headers: HTTPHeaders(members.headers.map { HTTPHeader(name: $0[0], value: $0[1]) }),
            origin: members.origin.flatMap { Origin($0) }, validator: validator, path: members.path,
            byteCount: members.byteCount, totalLength: members.totalLength)
        isRelocated = members.isRelocated ?? false
    }

    private static func checksum(of bytes: Data) -> String {
        var sum = UInt32.max
        for byte in bytes {
            sum ^= UInt32(byte)
            for _ in 0..<8 { sum = sum & 1 == 1 ? sum >> 1 ^ 0xEDB8_8320 : sum >> 1 }
        }
        let value = ~sum
        return String(repeating: "0", count: value.leadingZeroBitCount / 4 - (value == 0 ? 1 : 0))
            + String(value, radix: 16)
    }
}

// MARK: - Errors

/// The reason resume data can't be used. Handlers receive it in ``AFError/createURLRequestFailed(error:)``. The request wasn't
/// sent.
public enum ResumeDataError: Error, Sendable, Hashable {
    /// The data isn't this library's resume data. Another library might have created it.
    case notResumeData
    /// A newer version of this library created the data. The associated value is the version of the format.
    case newerVersion(Int)
    /// The resume data is incomplete or was modified.
    case damaged
    /// Another request is writing to the partial file at this path.
    case inUse(path: String)
}

extension ResumeDataError: CustomStringConvertible, LocalizedError {
    /// A description of the problem and how to fix it.
    public var description: String {
        switch self {
        case .notResumeData:
            "The data isn't resume data of this library. Start the download again."
        case .newerVersion(let version):
            "The resume data has format \(version), which this version of Afar doesn't support. Start the download again."
        case .damaged:
            "The resume data is damaged: bytes are missing or changed. Start the download again."
        case .inUse(let path):
            "Another download is already writing to \(TerminalText.line(path)). Use resume data for one download at a time."
        }
    }

    /// The same text as `description`.
    public var errorDescription: String? { description }
}
