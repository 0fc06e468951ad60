import AfarHTTP1
import AfarTransport
import CNghttp2
import HTTPTypes

/// The field lines of a request's header or trailer section (RFC 9113, section 8.3), stored for nghttp2.
struct RequestFields {
    /// The maximum size of a header section, as defined in RFC 9113, section 6.5.2.
    static let maximumSize = 1 << 20
    private static let fieldOverhead = 32
    /// Shorter cookies aren't indexed, because the compression context would allow guessing them (RFC 7541, section 7.1.3).
    private static let shortestIndexedCookie = 20

    private struct Line {
        let name: Range<Int>
        let value: Range<Int>
        let flags: UInt8
    }

    private var bytes: [UInt8] = []
    private var lines: [Line] = []

    /// Creates the header section of a request.
    ///
    /// The rules are those of ``RequestHead``. A `Host` field of the request or of the default fields replaces the authority from
    /// the URL. The request's fields replace default fields of the same name. Only `body` determines `Content-Length`.
    init(_ request: HTTPRequest, defaultFields defaults: HTTPFields, body: RequestHead.BodyFraming) throws(Fault) {
        bytes.reserveCapacity(512)
        lines.reserveCapacity(16)
        let method = request.method
        guard method.rawValue.isHTTPToken else {
            throw Fault(.invalidUse, "the method \(method.rawValue.debugDescription) is not a token")
        }
        append(":method", method.rawValue)
        let isTunnel = method == .connect && request.extendedConnectProtocol == nil
        if isTunnel {
            append(":authority", try RequestHead.target(of: request, .authority))
        } else {
            var checked = request
            if method == .connect { checked.method = .get }
            let path = try RequestHead.target(of: checked, .origin)
            // RFC 8441, section 4.
            if let name = request.extendedConnectProtocol { append(":protocol", name) }
            append(":scheme", request.scheme == "http" ? "http" : "https")
            append(":authority", try Self.authority(of: request, defaults))
            append(":path", path)
        }
        let own = request.headerFields
        for field in own where Self.isSent(field) { append(field) }
        for field in defaults where Self.isSent(field) && !own.contains(field.name) { append(field) }
        switch body {
        case .chunked: break
        case .length(let length):
            guard length >= 0 else { throw Fault(.invalidUse, "the body's length is negative") }
            append("content-length", "\(length)")
        case .none:
            if method.expectsContent { append("content-length", "0") }
        }
        guard !isTooLarge else {
            throw Fault(.invalidUse, "the request's header fields exceed \(Self.maximumSize) bytes")
        }
    }

    /// Creates a trailer section, without the fields that are forbidden there.
    init(trailers: HTTPFields) throws(Fault) {
        for field in trailers where !field.name.isForbiddenInTrailers && Self.isSent(field) { append(field) }
        guard !isTooLarge else {
            throw Fault(.requestBodyFailed, "the request's trailer fields exceed \(Self.maximumSize) bytes")
        }
    }

    private var isTooLarge: Bool { bytes.count + lines.count * Self.fieldOverhead > Self.maximumSize }

    var isEmpty: Bool { lines.isEmpty }

    /// The request's head. `Host` stands for `:authority`.
    var sentHead: SentHead {
        var head = SentHead(method: "", target: "", version: "HTTP/2", fields: [])
        for line in lines {
            let value = String(decoding: bytes[line.value], as: UTF8.self)
            switch String(decoding: bytes[line.name], as: UTF8.self) {
            case ":method": head.method = value
            case ":path": head.target = value
            case ":authority": head.fields.append(SentHead.Field("host", value))
            case ":scheme": break
            case let name: head.fields.append(SentHead.Field(name, value))
            }
        }
        if head.target.isEmpty { head.target = head.fields.first?.value ?? "" }
        return head
    }

    /// Calls a closure with the lines. The pointers are valid during the call.
    func withLines<Result>(_ body: (UnsafePointer<nghttp2_nv>?, Int) -> Result) -> Result {
        bytes.withUnsafeBufferPointer { buffer in
            // nghttp2 doesn't change the bytes.
            let start = UnsafeMutablePointer(mutating: buffer.baseAddress)
            let values = lines.map { line in
                nghttp2_nv(
                    name: start.map { $0 + line.name.lowerBound }, value: start.map { $0 + line.value.lowerBound },
                    namelen: line.name.count, valuelen: line.value.count, flags: line.flags)
            }
            return values.withUnsafeBufferPointer { body($0.baseAddress, $0.count) }
        }
    }

    /// The value of `:authority` (RFC 9113, section 8.3.1).
    private static func authority(of request: HTTPRequest, _ defaults: HTTPFields) throws(Fault) -> String {
        let isHost = { (field: HTTPField) in field.name.canonicalName == "host" }
        guard let host = (request.headerFields.first(where: isHost) ?? defaults.first(where: isHost))?.value else {
            return (request.authority ?? "").withoutZone
        }
        guard host.allBytes(\.isAllowedInAuthority) else {
            throw Fault(.invalidURL, "the Host field has characters that can't be in a host")
        }
        return host
    }

    /// Whether the field is sent. Connection-specific fields aren't part of HTTP/2 (RFC 9113, section 8.2.2).
    private static func isSent(_ field: HTTPField) -> Bool {
        switch field.name.canonicalName {
        case "connection", "content-length", "host", "http2-settings", "keep-alive", "proxy-authorization",
            "proxy-connection", "transfer-encoding", "upgrade":
            false
        case "te": field.value.asciiLowercased == "trailers"
        default: true
        }
    }

    private mutating func append(_ name: String, _ value: String) {
        append(name, flags: NGHTTP2_NV_FLAG_NONE) { $0 += value.utf8 }
    }

    private mutating func append(_ field: HTTPField) {
        let name = field.name.canonicalName
        field.withUnsafeBytesOfValue { value in
            let isSecret = name == "authorization" || name == "cookie" && value.count < Self.shortestIndexedCookie
            append(name, flags: isSecret ? NGHTTP2_NV_FLAG_NO_INDEX : NGHTTP2_NV_FLAG_NONE) { $0 += value }
        }
    }

    private mutating func append(_ name: String, flags: nghttp2_nv_flag, _ appendValue: (inout [UInt8]) -> Void) {
        let start = bytes.count
        bytes += name.utf8
        let middle = bytes.count
        appendValue(&bytes)
        lines.append(Line(name: start..<middle, value: middle..<bytes.count, flags: UInt8(flags.rawValue)))
    }
}
