import HTTPTypes

/// The head of a request as a transport sent it, including the fields that the transport added.
package struct SentHead: Sendable, Equatable {
    package struct Field: Sendable, Equatable {
        package var name: String
        package var value: String

        package init(_ name: String, _ value: String) { (self.name, self.value) = (name, value) }
    }

    package var method: String
    /// The request target (RFC 9112, section 3.2).
    package var target: String
    /// The version, such as "HTTP/1.1"; nil if it isn't known yet.
    package var version: String?
    package var fields: [Field]

    package init(method: String, target: String, version: String?, fields: [Field]) {
        (self.method, self.target, self.version, self.fields) = (method, target, version, fields)
    }

    /// Parses the lines of an HTTP/1.1 head (RFC 9112, section 3). Returns nil if the first line isn't a request line.
    package init?(lines bytes: some Sequence<UInt8>) {
        let lines = Array(bytes).split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            .map { String(decoding: $0.last == 0x0D ? $0.dropLast() : $0, as: UTF8.self) }
        let words = (lines.first ?? "").split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 3, !words.contains("") else { return nil }
        self.init(method: String(words[0]), target: String(words[1]), version: String(words[2]), fields: [])
        for line in lines.dropFirst() {
            guard let colon = line.utf8.firstIndex(of: UInt8(ascii: ":")) else { continue }
            fields.append(
                Field(String(line[..<colon]), String(line[line.utf8.index(after: colon)...].drop { $0 == " " })))
        }
    }

    /// Creates the head that Afar's HTTP/1.1 engine sends for an exchange, for transports that don't report heads.
    ///
    /// `Host` comes first, then the request's fields and the default fields that the request doesn't have.
    package init(expectedFor exchange: Exchange) {
        let request = exchange.request
        let own = request.headerFields
        let others = Array(exchange.options.defaultFields.fields).filter { !own.contains($0.name) }
        let isHost = { (field: HTTPField) in field.name.canonicalName == "host" }
        let host = (own.first(where: isHost) ?? others.first(where: isHost))?.value ?? request.authority ?? ""
        self.init(
            method: request.method.rawValue, target: request.path ?? "/", version: nil, fields: [Field("Host", host)])
        let hasAccept = own.contains(.accept) || others.contains { $0.name == .accept }
        let accept = hasAccept || exchange.options.omitsAccept ? [] : [Field("Accept", "*/*")]
        func sent(_ fields: [HTTPField]) -> [Field] {
            fields.filter { !["host", "content-length", "transfer-encoding"].contains($0.name.canonicalName) }
                .map { Field($0.name.rawName, $0.value) }
        }
        fields += sent(Array(own)) + accept + sent(others)
        if !exchange.body.isNone {
            fields.append(
                exchange.body.length.map { Field("Content-Length", "\($0)") } ?? Field("Transfer-Encoding", "chunked"))
        } else if request.method.expectsContent {
            fields.append(Field("Content-Length", "0"))
        }
    }
}

/// The key of a closure that receives the head of each request when the transport sends it.
///
/// The closure is called on the thread that sends. A request that is sent again is reported again. Transports that can't determine what
/// they send, such as Foundation's, ignore the closure.
package enum SentHeadReceiver: ExchangeContextKey {
    package static let defaultValue: (@Sendable (SentHead) -> Void)? = nil
}
