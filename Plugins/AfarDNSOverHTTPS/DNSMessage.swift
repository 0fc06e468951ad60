public import AfarTransport

/// The type of the records that a query requests (RFC 1035, section 3.2.2; RFC 3596).
public enum DNSRecordType: UInt16, Sendable, Hashable, CaseIterable {
    /// IPv4 addresses.
    case a = 1
    /// IPv6 addresses.
    case aaaa = 28

    fileprivate var addressLength: Int { self == .a ? 4 : 16 }
}

/// A query for the addresses of a host in the wire format (RFC 1035, section 4).
public struct DNSQuery: Sendable, Hashable {
    /// The name of the host in lowercase.
    public let host: String
    /// The type of the requested records.
    public let type: DNSRecordType
    /// The message. Its ID is 0, so that the same query always has the same bytes (RFC 8484, section 4.1).
    public let message: [UInt8]
    /// The encoded name: the length and the bytes of each label, and a zero byte at the end.
    fileprivate let name: [UInt8]

    /// Creates a query.
    ///
    /// - Throws: A ``DNSError`` if the host isn't a valid name: labels of 1 to 63 ASCII characters, and at most 253 characters.
    public init(host: String, type: DNSRecordType) throws(DNSError) {
        let labels = host.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard host.utf8.count <= 253, labels.allSatisfy({ (1...63).contains($0.count) && $0.allSatisfy { $0 < 0x80 } })
        else {
            throw DNSError(.invalidName, host)
        }
        let name: [UInt8] = labels.flatMap { label -> [UInt8] in [UInt8(label.count)] + label.map(\.lowercase) } + [0]
        // A standard query with the flag "recursion desired", one question, and no records.
        let header: [UInt8] = [0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0]
        (self.host, self.type, self.name) = (String(decoding: host.utf8.map(\.lowercase), as: UTF8.self), type, name)
        // The class IN follows the type.
        message = header + name + [0, UInt8(type.rawValue), 0, 1]
    }
}

/// The answer to a ``DNSQuery``.
public struct DNSAnswer: Sendable, Hashable {
    /// The addresses in the message's order, at most 100. The list is empty if the host doesn't exist or has no address of this type.
    public let addresses: [SocketAddress]
    /// How long the answer can be cached: the shortest time to live of the addresses and of the aliases that lead to them.
    ///
    /// If the list of addresses is empty, this property is the time in the zone's SOA record (RFC 2308, section 5). If the message has
    /// no such record, this property is nil, and the answer can't be cached.
    public let timeToLive: Duration?

    private static let responseLimit = 65_535
    private static let addressLimit = 100
    /// The maximum number of aliases that lead to the addresses.
    private static let aliasLimit = 16

    /// Parses a message in the wire format (RFC 1035, section 4).
    ///
    /// - Parameters:
    ///   - message: The server's response to the query.
    ///   - query: The query.
    /// - Throws: A ``DNSError`` if the message is malformed, is truncated, isn't a response to this query, or reports a failure.
    public init(_ message: [UInt8], to query: DNSQuery) throws(DNSError) {
        do throws(DNSError.Reason) {
            (addresses, timeToLive) = try Self.parse(message, query)
        } catch {
            throw DNSError(error, query.host)
        }
    }

    private static func parse(
        _ message: [UInt8], _ query: DNSQuery
    ) throws(DNSError.Reason) -> ([SocketAddress], Duration?) {
        guard message.count <= responseLimit else { throw .malformed("it is too long") }
        var reader = Reader(message)
        _ = try reader.number(2)
        let flags = try reader.number(2)
        let counts = (question: try reader.number(2), answer: try reader.number(2), authority: try reader.number(2))
        // The additional section isn't needed.
        _ = try reader.number(2)
        guard flags & 0xF800 == 0x8000 else { throw .malformed("it is not a response to a standard query") }
        guard flags & 0x0200 == 0 else { throw .truncated }
        let code = flags & 0xF
        // 3 means that the name doesn't exist.
        guard code == 0 || code == 3 else { throw .failure(responseCode: code) }
        guard counts.question == 1, try reader.name() == query.name, try reader.number(2) == query.type.rawValue,
            try reader.number(2) == 1
        else { throw .malformed("it answers another question") }
        let records = try records(counts.answer, query.type, &reader)
        let found = code == 0 ? try addresses(of: query, records) : (addresses: [], time: nil)
        guard found.addresses.isEmpty else { return (found.addresses, found.time.map { .seconds($0) }) }
        return ([], negativeTime(counts.authority, found.time, &reader).map { .seconds($0) })
    }

    /// Returns how long an answer without addresses can be cached, in seconds (RFC 2308, section 5).
    ///
    /// - Parameter aliasTime: The shortest time to live of the aliases; nil without aliases.
    private static func negativeTime(_ count: Int, _ aliasTime: Int?, _ reader: inout Reader) -> Int? {
        do throws(DNSError.Reason) {
            for _ in 0..<count {
                _ = try reader.name()
                let (kind, isInternet) = (try reader.number(2), try reader.number(2) == 1)
                let (seconds, length) = (try reader.time(), try reader.number(2))
                guard kind == 6, isInternet else {
                    _ = try reader.bytes(length)
                    continue
                }
                // Skips the names of the server and of the mailbox, and four numbers. The time follows.
                (_, _) = (try reader.name(), try reader.name())
                _ = try reader.bytes(16)
                return min(seconds, try reader.time(), aliasTime ?? .max)
            }
        } catch {
            // The answer itself is valid.
        }
        return nil
    }

    private struct Records {
        var addresses: [[UInt8]: [(address: SocketAddress, time: Int)]] = [:]
        var aliases: [[UInt8]: (target: [UInt8], time: Int)] = [:]
    }

    private static func records(
        _ count: Int, _ type: DNSRecordType, _ reader: inout Reader
    ) throws(DNSError.Reason) -> Records {
        var records = Records()
        for _ in 0..<count {
            let owner = try reader.name()
            let (kind, isInternet) = (try reader.number(2), try reader.number(2) == 1)
            let (seconds, length) = (try reader.time(), try reader.number(2))
            let end = reader.position + length
            switch kind {
            case Int(type.rawValue) where isInternet:
                guard length == type.addressLength, let address = SocketAddress(bytes: try reader.bytes(length)) else {
                    throw .malformed("an address has the wrong length")
                }
                records.addresses[owner, default: []].append((address, seconds))
            // An alias (CNAME)
            case 5 where isInternet:
                let target = try reader.name()
                if records.aliases[owner] == nil { records.aliases[owner] = (target, seconds) }
            default: _ = try reader.bytes(length)
            }
            guard reader.position == end else { throw .malformed("a record has the wrong length") }
        }
        return records
    }

    /// Follows the aliases from the query's name to the addresses (RFC 1034, section 3.6.2). The time is the shortest time to live of
    /// these records.
    private static func addresses(
        of query: DNSQuery, _ records: Records
    ) throws(DNSError.Reason) -> (addresses: [SocketAddress], time: Int?) {
        var (name, shortest) = (query.name, Int.max)
        for _ in 0...aliasLimit {
            if let found = records.addresses[name]?.prefix(addressLimit) {
                let time = found.reduce(shortest) { min($0, $1.time) }
                return (found.map(\.address), time)
            }
            guard let alias = records.aliases[name] else { return ([], shortest == .max ? nil : shortest) }
            (name, shortest) = (alias.target, min(shortest, alias.time))
        }
        throw .malformed("it has a loop of aliases, or more than \(aliasLimit) of them")
    }
}

private struct Reader {
    private let message: [UInt8]
    private(set) var position = 0

    /// The maximum number of compression pointers in a name. A name has at most 127 labels.
    private static let referenceLimit = 127

    init(_ message: [UInt8]) { self.message = message }

    mutating func bytes(_ count: Int) throws(DNSError.Reason) -> ArraySlice<UInt8> {
        guard count <= message.count - position else { throw .malformed("it ends too early") }
        defer { position += count }
        return message[position..<position + count]
    }

    mutating func number(_ byteCount: Int) throws(DNSError.Reason) -> Int {
        try bytes(byteCount).reduce(0) { $0 << 8 | Int($1) }
    }

    /// Reads a time in seconds. A time whose highest bit is set is invalid, and counts as 0 (RFC 2181, section 8).
    mutating func time() throws(DNSError.Reason) -> Int {
        let time = try number(4)
        return time < 0x8000_0000 ? time : 0
    }

    /// Reads a name, and returns it in lowercase and without compression pointers (RFC 1035, section 4.1.4).
    mutating func name() throws(DNSError.Reason) -> [UInt8] {
        var name: [UInt8] = []
        // The start of the labels that are being read, and the position after the first compression pointer.
        var (start, end) = (position, nil as Int?)
        for _ in 0...Self.referenceLimit {
            while true {
                let length = try number(1)
                if length >= 0xC0 {
                    let target = (length & 0x3F) << 8 | (try number(1))
                    if end == nil { end = position }
                    // Each compression pointer leads to an earlier position, so there are no loops.
                    guard target < start else {
                        throw .malformed("a name has a reference to itself or to a later name")
                    }
                    (start, position) = (target, target)
                    break
                }
                guard length < 0x40 else { throw .malformed("a label has an unknown type") }
                name.append(UInt8(length))
                if length == 0 {
                    if let end { position = end }
                    return name
                }
                name += try bytes(length).map(\.lowercase)
                guard name.count < 255 else { throw .malformed("a name is too long") }
            }
        }
        throw .malformed("a name has too many references")
    }
}

extension UInt8 {
    fileprivate var lowercase: UInt8 { (0x41...0x5A).contains(self) ? self | 0x20 : self }
}
