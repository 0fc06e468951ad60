import AfarCore
import CLibcurl
import Foundation
import HTTPTypes

/// What libcurl will be told about one request, prepared on the caller's thread.
struct RequestPlan {
    let url: String
    let method: HTTPRequest.Method
    let headers: HeaderList
    let isSecure: Bool
    /// The connections that may serve this request are those of the same host.
    let host: String
    /// Whether the host is a name and not an address.
    let needsLookup: Bool

    // A name without a value keeps libcurl from adding a field of its own.
    private static let noExpect: StaticString = "Expect:"
    private static let noContentType: StaticString = "Content-Type:"
    private static let noAcceptEncoding: StaticString = "Accept-Encoding:"
    private static let chunked: StaticString = "Transfer-Encoding: chunked"

    init(_ exchange: Exchange) throws {
        let request = exchange.request
        guard let scheme = request.scheme, let authority = request.authority, !authority.isEmpty else {
            throw TransportError(.invalidURL, phase: .queued, url: exchange.url, message: "the URL has no host")
        }
        guard scheme == "http" || scheme == "https" else {
            throw TransportError(
                .unsupportedURL, phase: .queued, url: exchange.url,
                message: "the scheme \"\(scheme)\" is not http or https")
        }
        // Together they must be read as what they are, whoever made the request: "x" as a path would lengthen the host's
        // name, "@x" would make it a user's.
        let path = request.path ?? "/"
        guard path.first == "/", path.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F }),
            authority.utf8.allSatisfy(Self.isAllowedInAuthority)
        else {
            throw TransportError(
                .invalidURL, phase: .queued, url: exchange.url,
                message: "the host or the path has characters that mislead")
        }
        if request.method == .head, exchange.body.length != 0 {
            // libcurl would wait for a body of the response.
            throw TransportError(
                .unsupportedByTransport, phase: .queued, url: exchange.url,
                message: "a HEAD request with a body cannot be sent")
        }
        url = "\(scheme)://\(authority)\(path)"
        method = request.method
        isSecure = scheme == "https"
        host = Self.hostKey(authority, isSecure: isSecure)
        needsLookup = authority.first != "[" && !authority.utf8.allSatisfy { (0x2E...0x3A).contains($0) && $0 != 0x2F }
        headers = Self.headers(for: exchange)
    }

    /// A name, an address, a port: nothing that ends the authority or makes part of it a user's name.
    private static func isAllowedInAuthority(_ byte: UInt8) -> Bool {
        switch byte {
        case 0...0x20, 0x7F, UInt8(ascii: "@"), UInt8(ascii: "/"), UInt8(ascii: "\\"), UInt8(ascii: "?"),
            UInt8(ascii: "#"):
            false
        default: true
        }
    }

    /// The same for all spellings of a host.
    private static func hostKey(_ authority: String, isSecure: Bool) -> String {
        let ending = isSecure ? ":443" : ":80"
        let spelling = authority.hasSuffix(ending) ? String(authority.dropLast(ending.count)) : authority
        return (isSecure ? "s:" : "p:") + spelling.lowercased()
    }

    private static func headers(for exchange: Exchange) -> HeaderList {
        let fields = exchange.request.headerFields
        let defaults = exchange.options.defaultFields
        var extra: [StaticString] = []
        if !exchange.body.isNone || exchange.request.method.expectsContent {
            if !fields.contains(.expect), !defaults.fields.contains(.expect) { extra.append(noExpect) }
            if !fields.contains(.contentType), !defaults.fields.contains(.contentType) { extra.append(noContentType) }
            if exchange.body.length == nil { extra.append(chunked) }
        }
        if !fields.contains(.acceptEncoding), !defaults.fields.contains(.acceptEncoding) {
            extra.append(noAcceptEncoding)
        }
        let own = fields.contains(where: isFraming) ? fields.filter { !isFraming($0) } : Array(fields)
        let overridden = !fields.isEmpty && defaults.fields.contains { fields.contains($0.name) }
        let base =
            overridden
            ? HeaderList(defaults.fields.filter { !fields.contains($0.name) && !isFraming($0) })
            : defaults.prepared { HeaderList($0.filter { !isFraming($0) }) }
        return HeaderList(own, extra: extra, next: base)
    }

    /// libcurl counts and frames the body itself; a second word on that would contradict it.
    private static func isFraming(_ field: HTTPField) -> Bool {
        field.name == .contentLength || field.name == .transferEncoding
    }
}

extension HTTPRequest.Method {
    /// Whether a request of this method without content says so by `Content-Length: 0` (RFC 9110, section 8.6).
    var expectsContent: Bool { self == .post || self == .put || self == .patch }
}
