package import Foundation
import HTTPTypes

#if canImport(FoundationNetworking)
    package import FoundationNetworking
#endif

/// The data with which an interrupted download is resumed: what to request, how to verify that the file is unchanged, and the
/// location of the part that has arrived.
package struct ResumeData: Sendable, Equatable {
    /// The URL, without user name and password.
    package var url: URL
    /// The request's header fields, without any that contain credentials.
    package var headers: HTTPHeaders
    /// The origin of the bytes, which can differ from the URL's after redirects. A validator is valid only for its origin (RFC
    /// 9110, section 8.8.3).
    package var origin: Origin?
    /// Verifies that the file on the server is unchanged.
    package var validator: ResumeValidator
    /// The path of the partial file.
    package var path: String
    /// The number of valid bytes in that file.
    package var byteCount: Int64
    /// The length of the whole file; nil if the server didn't send it.
    package var totalLength: Int64?

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

    /// Creates resume data for a response whose body hasn't arrived yet. Returns nil if it can't be resumed: because it isn't a
    /// complete response to a GET, because it is encoded, or because it has no usable validator.
    ///
    /// - Parameter request: The request before adapters, because the next request is adapted as well.
    init?(_ head: ResponseHead, to request: URLRequest, in file: URL) {
        guard head.status == 200, request.httpMethod ?? "GET" == "GET", !head.isEncoded,
            head.value(for: .acceptRanges)?.lowercased() != "none", let validator = ResumeValidator(head),
            let url = request.url.flatMap(Self.withoutUserinfo)
        else { return nil }
        self.init(
            url: url, headers: Self.headersWorthKeeping(request.headers), origin: head.origin, validator: validator,
            path: file.path, byteCount: 0,
            totalLength: head.values(for: .transferEncoding).isEmpty ? head.contentLength : nil)
    }

    /// Returns the request for the file, without the fields for a range.
    ///
    /// - Parameter sensitiveHeaders: The names of further headers to omit, in addition to the known sensitive ones. Code that
    ///   stores resume data could have added some.
    func urlRequest(without sensitiveHeaders: Set<String> = []) throws -> URLRequest {
        var request = try URLRequest(url: url, method: .get, headers: Self.headersWorthKeeping(headers))
        for name in sensitiveHeaders { request.setValue(nil, forHTTPHeaderField: name) }
        return request
    }

    /// Returns whether a request is for the file that this is a part of.
    package func isPart(of request: URLRequest) -> Bool {
        request.httpMethod ?? "GET" == "GET" && request.url.flatMap(Self.withoutUserinfo) == url
            && request.value(forHTTPHeaderField: "Range") == nil
    }

    /// Returns the fields that request the bytes from an offset on, if the file is unchanged (RFC 9110, sections 14.2 and
    /// 13.1.5).
    func fields(from offset: Int64) -> HTTPHeaders {
        // A content coding can't be decoded from the middle.
        ["Range": "bytes=\(offset)-", "If-Range": validator.text, "Accept-Encoding": "identity"]
    }

    /// Returns the URL in the form in which it is stored and compared.
    package static func withoutUserinfo(_ url: URL) -> URL? {
        guard var components = URLComponents(url: url, resolvingAgainstBaseURL: true) else { return nil }
        (components.user, components.password) = (nil, nil)
        return components.url
    }

    private static func headersWorthKeeping(_ headers: HTTPHeaders) -> HTTPHeaders {
        let own: Set = ["range", "accept-encoding", "content-length", "transfer-encoding", "host"]
        return HTTPHeaders(
            headers.filter { header in
                let name = header.name.lowercased()
                // A URL in a value can contain a credential.
                return !own.contains(name) && !name.hasPrefix("if-")
                    && Redaction.standard.value(header.value, of: name) == header.value
            }
            .sorted { $0.name < $1.name })
    }
}

extension ResponseHead {
    /// The origin of the response.
    var origin: Origin? { URL(keepingEscapesOf: url).flatMap { Origin($0) } }

    /// Whether the body has a content coding (RFC 9110, section 8.4).
    var isEncoded: Bool {
        values(for: .contentEncoding).contains { $0.lowercased() != "identity" }
    }
}

/// A validator that verifies that a file on a server is unchanged, byte for byte.
package enum ResumeValidator: Sendable, Equatable {
    /// A strong entity tag, with its quotes.
    case entityTag(String)
    /// The date of the last modification, as the server sent it.
    case lastModified(String)

    /// The number of seconds between the last modification and the response that makes a date strong. A second change within the
    /// same second wouldn't be visible, and clocks differ (RFC 9110, section 8.8.2.2).
    private static let strongAge = 60

    /// Creates the validator of a response. Returns nil if the response has none that is allowed in If-Range (RFC 9110, section
    /// 13.1.5): an entity tag must be strong, and a date is used only without an entity tag.
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

    /// Creates the validator from resume data. Returns nil if no response could have had it.
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

    /// Returns whether a partial response identifies itself as another file. A response without a validator is accepted, because
    /// this validator was a condition of the request.
    func isContradicted(by head: ResponseHead) -> Bool {
        let name: HTTPField.Name =
            switch self {
            case .entityTag: .eTag
            case .lastModified: .lastModified
            }
        return head.value(for: name).map { $0 != text } ?? false
    }

    /// RFC 9110, section 8.8.3: in quotes, without a `W/` prefix.
    private static func isStrong(_ tag: String) -> Bool {
        let quote = UInt8(ascii: "\"")
        return tag.utf8.count >= 2 && tag.utf8.first == quote && tag.utf8.last == quote
            && tag.utf8.dropFirst().dropLast().allSatisfy { $0 >= 0x20 && $0 != 0x7F && $0 != quote }
    }
}
