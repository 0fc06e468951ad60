public import AfarMultipart
public import Foundation

/// A request that a ``TestServer`` has received, including its body.
public struct ServerRequest: Sendable {
    /// A name and a value from the query or from a form.
    public struct Argument: Sendable, Equatable {
        /// The decoded name.
        public let name: String
        /// The decoded value; empty if no `=` follows the name.
        public let value: String
    }

    /// The maximum number of bytes in ``body``: 16 MiB. Further bytes are counted and included in the checksum, but not stored.
    public static let bodyLimit = 16 << 20

    /// The method as sent.
    public let method: String
    /// The request target as sent.
    public let target: String
    /// The path as sent, still percent-encoded.
    public let path: String
    /// The query as sent, without the question mark; empty without a query.
    public let query: String
    /// The protocol version, as in `HTTP/1.1`.
    public let version: String
    /// The header fields as sent.
    public let headers: ServerHeaders
    /// The first bytes of the body, up to ``bodyLimit``.
    public internal(set) var body = Data()
    /// The length of the whole body in bytes.
    public var bodyLength: Int { bodyChecksum.count }
    /// The checksum of the whole body.
    public internal(set) var bodyChecksum = BodyChecksum()
    /// The decoded path segments for the `{names}` in the route's pattern.
    public internal(set) var parameters: [String: String] = [:]

    /// The query's arguments in order, decoded like a form, so `+` is a space.
    public var arguments: [Argument] { Self.decodeForm(query) }

    /// The body as text, or `nil` if it isn't UTF-8 or exceeds ``bodyLimit``.
    public var text: String? {
        body.count == bodyLength ? String(data: body, encoding: .utf8) : nil
    }

    /// A part of a multipart body.
    public struct Part: Sendable {
        /// The header fields of the part.
        public let header: MultipartHeader
        /// The body of the part.
        public let body: Data
    }

    /// The parts of a multipart body (RFC 2046, section 5.1; RFC 7578).
    ///
    /// - Throws: `MultipartError` if the body isn't multipart, is malformed, or exceeds ``bodyLimit``.
    public var parts: [Part] {
        get throws {
            var parser = try MultipartParser(contentType: headers["Content-Type"] ?? "")
            var parts: [Part] = []
            var (header, content) = (MultipartHeader?.none, Data())
            for event in try parser.parse(body) {
                switch event {
                case .header(let next): (header, content) = (next, Data())
                case .data(let data): content += data
                case .end: if let header { parts.append(Part(header: header, body: content)) }
                }
            }
            try parser.finish()
            return parts
        }
    }

    /// Returns the first argument with a name.
    func argument(_ name: String) -> String? {
        arguments.first { $0.name == name }?.value
    }

    /// The media type without its parameters, lowercased.
    var mediaType: String {
        let value = headers["Content-Type"] ?? ""
        return value.prefix { $0 != ";" }.trimmingSpaces.lowercased()
    }

    static func decodeForm(_ text: String) -> [Argument] {
        text.split(separator: "&").map { pair in
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map { part in
                let spaced = String(part.map { $0 == "+" ? " " : $0 })
                return spaced.removingPercentEncoding ?? spaced
            }
            return Argument(name: parts[0], value: parts.count > 1 ? parts[1] : "")
        }
    }
}

// MARK: - Parsing

/// A request that can't be parsed. The server responds with the error's status, and closes the connection.
struct MalformedRequest: Error {
    let status: Int
    let reason: String
}

extension ServerRequest {
    /// Parses a request's head, from the request line to the blank line.
    init(head: [UInt8]) throws {
        let lines = head.split(separator: 10, omittingEmptySubsequences: true).map { line in
            line.last == 13 ? line.dropLast() : line
        }
        guard let first = lines.first else { throw MalformedRequest(status: 400, reason: "no request line") }
        let parts = first.split(separator: 32).map(Self.text)
        guard parts.count == 3, parts[2].hasPrefix("HTTP/1.") else {
            throw MalformedRequest(status: 400, reason: "not a request line: \(Self.text(first))")
        }
        method = parts[0]
        target = parts[1]
        version = parts[2]
        (path, query) = Self.split(target: parts[1])
        var headers = ServerHeaders()
        for line in lines.dropFirst() where !line.isEmpty {
            guard let colon = line.firstIndex(of: 58), colon > line.startIndex else {
                throw MalformedRequest(status: 400, reason: "not a header line: \(Self.text(line))")
            }
            headers.append(Self.text(line[..<colon]), String(Self.text(line[(colon + 1)...]).trimmingSpaces))
        }
        self.headers = headers
    }

    /// Whether the client intends to send more requests over this connection.
    var requestsKeepAlive: Bool {
        let tokens = headers.tokens("Connection")
        return version == "HTTP/1.0" ? tokens.contains("keep-alive") : !tokens.contains("close")
    }

    /// How the body is framed.
    var bodyFraming: BodyFraming {
        get throws {
            let lengths = Set(headers.values(of: "Content-Length"))
            let codings = headers.tokens("Transfer-Encoding")
            switch (codings.isEmpty, lengths.first) {
            case (true, nil): return .length(0)
            case (true, let text?):
                guard lengths.count == 1, let length = Int(text), length >= 0 else {
                    throw MalformedRequest(status: 400, reason: "Content-Length is \(lengths.sorted())")
                }
                return .length(length)
            case (false, nil):
                guard codings == ["chunked"] else {
                    throw MalformedRequest(status: 501, reason: "Transfer-Encoding is \(codings)")
                }
                return .chunked
            case (false, _?):
                throw MalformedRequest(status: 400, reason: "both Content-Length and Transfer-Encoding")
            }
        }
    }

    enum BodyFraming: Equatable {
        case length(Int)
        case chunked
    }

    /// Splits a target into its path and query. The scheme and host of an absolute URL, as in a proxy request, are removed.
    private static func split(target: String) -> (path: String, query: String) {
        var rest = target[...]
        if let scheme = rest.range(of: "://"), !rest.hasPrefix("/") {
            rest = rest[scheme.upperBound...].drop { $0 != "/" && $0 != "?" }
        }
        let parts = rest.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let path = parts.first.map(String.init) ?? ""
        return (path.isEmpty ? "/" : path, parts.count > 1 ? String(parts[1]) : "")
    }

    /// Decodes bytes of the head as UTF-8. Invalid UTF-8 is decoded as ISO 8859-1, in which every byte is a character.
    private static func text(_ bytes: ArraySlice<UInt8>) -> String {
        String(validating: bytes, as: UTF8.self) ?? String(bytes.map { Character(Unicode.Scalar($0)) })
    }
}

// MARK: - Header fields

/// Header fields in the order in which they are sent. Names are case-insensitive, and can be repeated.
public struct ServerHeaders: Sendable, Equatable, ExpressibleByDictionaryLiteral {
    /// One header line.
    public struct Field: Sendable, Equatable {
        /// The name in its original spelling.
        public let name: String
        /// The value, without surrounding whitespace.
        public let value: String
    }

    /// All lines, in order.
    public private(set) var fields: [Field] = []

    /// Creates header fields from pairs. A repeated name creates repeated lines.
    public init(dictionaryLiteral elements: (String, String)...) {
        elements.forEach { append($0.0, $0.1) }
    }

    /// The value of a field. Repeated lines are joined by `", "`. Setting a value replaces all lines with that name. Setting
    /// `nil` removes them.
    public subscript(name: String) -> String? {
        get {
            let values = values(of: name)
            return values.isEmpty ? nil : values.joined(separator: ", ")
        }
        set {
            fields.removeAll { $0.name.lowercased() == name.lowercased() }
            if let newValue { append(name, newValue) }
        }
    }

    /// Returns the values of all lines with a name, in order.
    public func values(of name: String) -> [String] {
        let name = name.lowercased()
        return fields.filter { $0.name.lowercased() == name }.map(\.value)
    }

    /// Adds a line, even if the name exists. Control characters, which could end the line, are replaced by spaces.
    public mutating func append(_ name: String, _ value: String) {
        fields.append(Field(name: Self.clean(name), value: Self.clean(value)))
    }

    private static func clean(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: { $0.value < 32 && $0 != "\t" }) else { return text }
        return String(text.unicodeScalars.map { $0.value < 32 ? " " : Character($0) })
    }

    /// Returns the comma-separated elements of a field, in lowercase.
    func tokens(_ name: String) -> [String] {
        (self[name] ?? "").lowercased().split(separator: ",").map { String($0.trimmingSpaces) }
    }
}

extension StringProtocol {
    var trimmingSpaces: SubSequence {
        let isSpace = { (character: Character) in character == " " || character == "\t" }
        let start = self[...].drop(while: isSpace)
        guard let last = start.lastIndex(where: { !isSpace($0) }) else { return start }
        return start[...last]
    }
}

// MARK: - Checksum of a body

/// A fast checksum of a body, to compare the bytes that a client sent with those that arrived.
///
/// The algorithm is FNV-1a over little-endian 64-bit words (offset basis `cbf29ce484222325`, prime `100000001b3`). The last
/// word is padded with zero bytes. Processing single bytes instead of words would take half a minute per gigabyte in a debug
/// build.
public struct BodyChecksum: Sendable, Equatable {
    /// The number of bytes that were added.
    public private(set) var count = 0
    private var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    private var pending: UInt64 = 0
    private static let prime: UInt64 = 0x100_0000_01b3

    /// Creates the checksum of no bytes.
    public init() {}

    /// Creates the checksum of bytes.
    public init(_ bytes: some ContiguousBytes) {
        update(bytes)
    }

    /// Adds bytes.
    public mutating func update(_ bytes: some ContiguousBytes) {
        bytes.withUnsafeBytes { update($0) }
    }

    /// The checksum as 16 hexadecimal digits.
    public var hex: String {
        let value = count % 8 == 0 ? hash : Self.mix(hash, pending)
        let digits = String(value, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    mutating func update(_ bytes: UnsafeRawBufferPointer) {
        var index = 0
        while index < bytes.count, count % 8 != 0 {
            add(bytes[index])
            index += 1
        }
        // Generic calls are slow in debug builds.
        let words = (bytes.count - index) / 8
        var left = words
        var value = hash
        while left > 0, let base = bytes.baseAddress {
            let word = UInt64(littleEndian: (base + index).loadUnaligned(as: UInt64.self))
            value = (value ^ word) &* Self.prime
            index &+= 8
            left &-= 1
        }
        hash = value
        count += words * 8
        while index < bytes.count {
            add(bytes[index])
            index += 1
        }
    }

    private mutating func add(_ byte: UInt8) {
        pending |= UInt64(byte) << UInt64(count % 8 * 8)
        count += 1
        guard count % 8 == 0 else { return }
        hash = Self.mix(hash, pending)
        pending = 0
    }

    private static func mix(_ hash: UInt64, _ word: UInt64) -> UInt64 {
        (hash ^ word) &* prime
    }
}
