package import AfarTransport
package import HTTPTypes

/// The bytes of an HTTP/1.1 request's head (RFC 9112, sections 3 and 5).
package struct RequestHead {
    /// The form of the request target (RFC 9112, section 3.2).
    package enum TargetForm: Sendable {
        /// The path and query, for the origin server.
        case origin
        /// The whole URL, for a proxy.
        case absolute
        /// The host and port, for CONNECT.
        case authority
    }

    /// How the request's body is delimited (RFC 9112, section 6).
    package enum BodyFraming: Sendable, Equatable {
        case none
        case length(Int64)
        case chunked
    }

    package let bytes: [UInt8]
    package let method: HTTPRequest.Method
    /// Whether the request has an `Upgrade` field.
    package let requestsUpgrade: Bool
    /// Whether the request has `Connection: close`.
    package let closesConnection: Bool

    /// Creates an empty head for a connection over which no request is sent.
    package init(withoutBytes method: HTTPRequest.Method) {
        (bytes, self.method, requestsUpgrade, closesConnection) = ([], method, false, false)
    }

    /// Serializes a head.
    ///
    /// `Host` comes first (RFC 9110, section 7.2). A `Host` field of the request or of `defaultFields` replaces the value from the
    /// URL. The request's fields replace default fields of the same name. Only `body` determines `Content-Length` and
    /// `Transfer-Encoding`. If the method expects a body but the request has none, `Content-Length` is 0 (RFC 9110, section 8.6).
    ///
    /// - Throws: `invalidURL` if the scheme, host or path can't be part of a request target, for example because the server
    ///   could read the path as part of the host; `invalidUse` if the method isn't a token or doesn't match `form`, or if the
    ///   body's length is negative.
    package init(
        _ request: HTTPRequest, defaultFields defaults: DefaultHeadFields = .none, target form: TargetForm = .origin,
        body: BodyFraming = .none
    ) throws(Fault) {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(512)
        func append(_ text: String) { bytes.append(contentsOf: text.utf8) }

        let method = request.method
        guard method.rawValue.isHTTPToken else {
            throw Fault(.invalidUse, "the method \(method.rawValue.debugDescription) is not a token")
        }
        append(method.rawValue)
        append(" ")
        append(try Self.target(of: request, form))
        append(" HTTP/1.1\r\n")

        let own = request.headerFields
        if let host = own.first(where: { $0.name.isHost }) ?? defaults.host {
            bytes.append(host)
        } else {
            let authority = request.authority ?? ""
            append("Host: ")
            append(authority.utf8.first == UInt8(ascii: "[") ? authority.withoutZone : authority)
            append("\r\n")
        }
        for field in own where !field.name.isUnsent(in: form) { bytes.append(field) }
        if form == .origin, !defaults.fields.contains(where: { own.contains($0.name) }) {
            bytes += defaults.originLines
        } else {
            for field in defaults.fields where !field.name.isUnsent(in: form) && !own.contains(field.name) {
                bytes.append(field)
            }
        }
        switch body {
        case .chunked: append("Transfer-Encoding: chunked\r\n")
        case .length(let length):
            guard length >= 0 else { throw Fault(.invalidUse, "the body's length is negative") }
            append("Content-Length: \(length)\r\n")
        case .none:
            if method.expectsContent { append("Content-Length: 0\r\n") }
        }
        append("\r\n")
        (self.bytes, self.method) = (bytes, method)
        requestsUpgrade = own.contains(.upgrade) || defaults.requestsUpgrade
        closesConnection = own.contains(.connection) ? own.closesConnection : defaults.closesConnection
    }

    /// Returns the bytes after the last data of a chunked body: an empty chunk and the trailer section (RFC 9112, section 7.1).
    package static func endOfChunkedBody(trailers: HTTPFields) -> [UInt8] {
        var bytes = Array("0\r\n".utf8)
        for field in trailers { bytes.append(field) }
        return bytes + [0x0D, 0x0A]
    }

    /// Returns the request target (RFC 9112, section 3.2) after checking it.
    package static func target(of request: HTTPRequest, _ form: TargetForm) throws(Fault) -> String {
        let authority = request.authority ?? ""
        // Only an address in brackets can contain a percent sign. The sign begins the zone.
        let isBracketed = authority.utf8.first == UInt8(ascii: "[")
        guard !authority.isEmpty,
            authority.allBytes({ $0.isAllowedInAuthority && (isBracketed || $0 != UInt8(ascii: "%")) })
        else {
            throw Fault(.invalidURL, "the host is empty, or has characters that can't be in a host")
        }
        guard (form == .authority) == (request.method == .connect) else {
            throw Fault(.invalidUse, "only CONNECT has a host and port as its target")
        }
        if form == .authority {
            guard let colon = authority.utf8.lastIndex(of: UInt8(ascii: ":")),
                authority.utf8[colon...].dropFirst().allSatisfy(\.isDigit),
                authority.utf8.last != UInt8(ascii: ":")
            else { throw Fault(.invalidURL, "the target of CONNECT has no port") }
            return authority.withoutZone
        }
        let path = request.path ?? "/"
        // OPTIONS for the whole server has the target `*`, or the URL without a path if the request is sent to a proxy (section 3.2.4).
        let isForServer = path == "*" && request.method == .options
        guard path.utf8.first == UInt8(ascii: "/") || isForServer,
            path.allBytes({ $0 > 0x20 && $0 != 0x7F && $0 != UInt8(ascii: "#") })
        else {
            throw Fault(
                .invalidURL, "the path doesn't begin with a slash, or has characters that can't be in a request target")
        }
        guard form == .absolute else { return path }
        guard let scheme = request.scheme, scheme == "http" || scheme == "https" else {
            throw Fault(.invalidURL, "the scheme is neither http nor https")
        }
        return "\(scheme)://\(authority.withoutZone)\(isForServer ? "" : path)"
    }
}

/// Header fields that many requests share. Their lines are serialized once.
package final class DefaultHeadFields: Sendable {
    package static let none = DefaultHeadFields(HTTPFields())

    package let fields: HTTPFields
    fileprivate let host: HTTPField?
    /// The lines that are sent to an origin server.
    fileprivate let originLines: [UInt8]
    fileprivate let requestsUpgrade: Bool
    fileprivate let closesConnection: Bool

    package init(_ fields: HTTPFields) {
        self.fields = fields
        host = fields.first { $0.name.isHost }
        var lines: [UInt8] = []
        for field in fields where !field.name.isUnsent(in: .origin) { lines.append(field) }
        originLines = lines
        requestsUpgrade = fields.contains(.upgrade)
        closesConnection = fields.closesConnection
    }
}

extension HTTPField.Name {
    fileprivate var isHost: Bool { canonicalName == "host" }

    /// Whether the field is omitted, because it is written separately, or because only a proxy may receive it.
    fileprivate func isUnsent(in form: RequestHead.TargetForm) -> Bool {
        isHost || self == .contentLength || self == .transferEncoding || form == .origin && self == .proxyAuthorization
    }
}

extension HTTPFields {
    /// Whether there is a `Connection: close` (RFC 9112, section 9.6).
    fileprivate var closesConnection: Bool {
        FieldScanner.elements(of: self[values: .connection]).contains { $0.asciiLowercased == "close" }
    }
}

extension [UInt8] {
    /// Appends a field line (RFC 9112, section 5).
    fileprivate mutating func append(_ field: HTTPField) {
        self += field.name.rawName.utf8
        self += [UInt8(ascii: ":"), 0x20]
        field.withUnsafeBytesOfValue { self += $0 }
        self += [0x0D, 0x0A]
    }
}
