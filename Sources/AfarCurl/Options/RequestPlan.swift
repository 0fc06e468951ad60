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
        url = "\(scheme)://\(authority)\(request.path ?? "/")"
        method = request.method
        isSecure = scheme == "https"
        host = isSecure ? "s:" + authority : "p:" + authority
        needsLookup = authority.first != "[" && !authority.allSatisfy { $0.isNumber || $0 == "." || $0 == ":" }
        headers = Self.headers(for: exchange)
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
        // libcurl counts the body itself; a second Content-Length would contradict it.
        let own = fields.contains(.contentLength) ? fields.filter { $0.name != .contentLength } : Array(fields)
        let overridden = !fields.isEmpty && defaults.fields.contains { fields.contains($0.name) }
        let base =
            overridden
            ? HeaderList(defaults.fields.filter { !fields.contains($0.name) })
            : defaults.prepared { HeaderList($0) }
        return HeaderList(own, extra: extra, next: base)
    }
}

extension HTTPRequest.Method {
    /// Whether a request of this method without content says so by `Content-Length: 0` (RFC 9110, section 8.6).
    var expectsContent: Bool { self == .post || self == .put || self == .patch }
}
