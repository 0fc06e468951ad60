import AfarTransport
package import HTTPTypes

/// The head of an HTTP/1.1 request as bytes (RFC 9112, sections 3 and 5).
package struct RequestHead {
    /// The form of the request target (RFC 9112, section 3.2).
    package enum TargetForm: Sendable {
        /// The path and query, to the origin server.
        case origin
        /// The whole URL, to a proxy.
        case absolute
        /// Host and port, for CONNECT.
        case authority
    }

    /// How the request's body is delimited (RFC 9112, section 6).
    package enum BodyFraming: Sendable, Equatable {
        case none
        case length(Int64)
        case chunked
    }

    package let bytes: [UInt8]

    /// Serializes a head.
    ///
    /// `Host` comes first (RFC 9110, section 7.2), from the request's own field if it has one. Fields that the request has replace
    /// default fields of the same name. `Content-Length` and `Transfer-Encoding` are written by the framing only. A request without a
    /// body whose method expects one has the length 0 (RFC 9110, section 8.6).
    ///
    /// - Throws: `invalidURL` if the target contains a byte that would end it, `invalidUse` if the method isn't a token.
    package init(
        _ request: HTTPRequest, defaultFields: HTTPFields = HTTPFields(), target form: TargetForm = .origin,
        body: BodyFraming = .none
    ) throws(HTTP1Error) {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(512)
        func append(_ text: String) { bytes.append(contentsOf: text.utf8) }
        func append(_ field: HTTPField) {
            append(field.name.rawName)
            append(": ")
            field.withUnsafeBytesOfValue { bytes.append(contentsOf: $0) }
            append("\r\n")
        }

        let method = request.method.rawValue
        guard method.isHTTPToken else {
            throw HTTP1Error(.invalidUse, "the method \(method.debugDescription) is not a token")
        }
        let authority = request.authority ?? ""
        let target =
            switch form {
            case .origin: request.path ?? "/"
            case .absolute: "\(request.scheme ?? "http")://\(authority)\(request.path ?? "/")"
            case .authority: authority
            }
        for text in [target, authority] where text.isEmpty || !text.allBytes({ $0 > 0x20 && $0 != 0x7F }) {
            throw HTTP1Error(.invalidURL, "the host or the path is empty or has characters that end a request target")
        }
        append("\(method) \(target) HTTP/1.1\r\n")

        let own = request.headerFields
        if let host = own.first(where: { $0.name.isHost }) ?? defaultFields.first(where: { $0.name.isHost }) {
            append(host)
        } else {
            append("Host: \(authority)\r\n")
        }
        for field in own where !field.name.isWrittenSeparately { append(field) }
        for field in defaultFields where !field.name.isWrittenSeparately && !own.contains(field.name) { append(field) }
        switch body {
        case .chunked: append("Transfer-Encoding: chunked\r\n")
        case .length(let length): append("Content-Length: \(length)\r\n")
        case .none:
            if request.method == .post || request.method == .put || request.method == .patch {
                append("Content-Length: 0\r\n")
            }
        }
        append("\r\n")
        self.bytes = bytes
    }
}

extension HTTPField.Name {
    fileprivate var isHost: Bool { canonicalName == "host" }

    fileprivate var isWrittenSeparately: Bool { isHost || self == .contentLength || self == .transferEncoding }
}

/// The chunked transfer coding of a request's body (RFC 9112, section 7.1).
package enum ChunkedCoding {
    /// The line before a chunk's data, which CRLF follows. A chunk must not be empty: its line would end the body.
    package static func sizeLine(for byteCount: Int) -> [UInt8] { Array("\(String(byteCount, radix: 16))\r\n".utf8) }

    /// The last chunk and the trailer section.
    package static func end(trailers: HTTPFields = HTTPFields()) -> [UInt8] {
        var bytes = Array("0\r\n".utf8)
        for field in trailers {
            bytes += field.name.rawName.utf8
            bytes += [UInt8(ascii: ":"), 0x20]
            field.withUnsafeBytesOfValue { bytes += $0 }
            bytes += [0x0D, 0x0A]
        }
        return bytes + [0x0D, 0x0A]
    }
}
