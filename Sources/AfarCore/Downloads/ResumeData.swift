package import Foundation
import HTTPTypes

#if canImport(FoundationNetworking)
    package import FoundationNetworking
#endif

/// What an interrupted download needs to be resumed: what to ask for, how to tell that it is still the same, and where
/// the part is that has arrived.
package struct ResumeData: Sendable, Equatable {
    /// The URL, without user name and password.
    package var url: URL
    /// The header fields to ask with; those that hold credentials are never among them.
    package var headers: HTTPHeaders
    /// Where the bytes came from, which after redirects may be elsewhere: a validator is good for what it came with (RFC
    /// 9110, section 8.8.3).
    package var origin: Origin?
    /// Tells whether the file on the server is still the same.
    package var validator: ResumeValidator
    /// The file that holds the part.
    package var path: String
    /// How many bytes of that file are right.
    package var byteCount: Int64
    /// The length of the whole; nil when the server has not said it.
    package var totalLength: Int64?

    /// - Parameter origin: Nil for that of the URL.
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

    /// What can be resumed after this response, of which no bytes are there yet; nil when it cannot be continued:
    /// it is no whole answer to a GET, it is encoded, or nothing identifies it well enough.
    ///
    /// - Parameter request: The request as its owner made it, before adapters: they will adapt the next one too.
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

    /// The request that asks for the file, not yet for a part of it.
    ///
    /// - Parameter sensitiveHeaders: The names of headers that are left out beside those that are sensitive by their
    ///   names. Whoever keeps resume data for a program could have added some.
    func urlRequest(without sensitiveHeaders: Set<String> = []) throws -> URLRequest {
        var request = try URLRequest(url: url, method: .get, headers: Self.headersWorthKeeping(headers))
        for name in sensitiveHeaders { request.setValue(nil, forHTTPHeaderField: name) }
        return request
    }

    /// Whether a request asks for what this is a part of.
    package func isPart(of request: URLRequest) -> Bool {
        request.httpMethod ?? "GET" == "GET" && request.url.flatMap(Self.withoutUserinfo) == url
            && request.value(forHTTPHeaderField: "Range") == nil
    }

    /// The fields that ask for what comes after so many bytes, if the file is still the same (RFC 9110, sections 14.2 and 13.1.5).
    func fields(from offset: Int64) -> HTTPHeaders {
        // The bytes of a content coding have no meaning from the middle on.
        ["Range": "bytes=\(offset)-", "If-Range": validator.text, "Accept-Encoding": "identity"]
    }

    /// The URL as it is kept and compared.
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
                // A URL among the values may have a credential in it.
                return !own.contains(name) && !name.hasPrefix("if-")
                    && Redaction.standard.value(header.value, of: name) == header.value
            }
            .sorted { $0.name < $1.name })
    }
}

extension ResponseHead {
    /// Whom the response is from.
    var origin: Origin? { URL(keepingEscapesOf: url).flatMap { Origin($0) } }

    /// Whether the body is in a content coding (RFC 9110, section 8.4).
    var isEncoded: Bool {
        values(for: .contentEncoding).contains { $0.lowercased() != "identity" }
    }
}

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
