/// A snapshot of a transport's connections, by host.
public struct ConnectionStatistics: Sendable, Hashable, Codable {
    /// The connections to one host.
    public struct Host: Sendable, Hashable, Codable {
        /// The host's origin: `https://example.com`, with the port if it isn't the scheme's default.
        public let origin: String
        /// The number of open connections that no request uses.
        public let idle: Int
        /// The number of connections that requests use or that are being opened for them.
        public let inUse: Int
        /// The number of requests without a connection: they wait for their turn, or for the host's address.
        public let waiting: Int
        /// The number of all connections.
        public var open: Int { idle + inUse }

        /// Creates statistics of a host.
        public init(origin: String, idle: Int = 0, inUse: Int = 0, waiting: Int = 0) {
            self.origin = origin
            self.idle = idle
            self.inUse = inUse
            self.waiting = waiting
        }
    }

    /// The hosts with connections or waiting requests, each once, in alphabetical order.
    public let hosts: [Host]

    /// Creates statistics of hosts. Entries with the same origin are added up.
    public init(hosts: [Host]) {
        let sums = Dictionary(hosts.map { ($0.origin, $0) }) { first, second in
            Host(
                origin: first.origin, idle: first.idle + second.idle, inUse: first.inUse + second.inUse,
                waiting: first.waiting + second.waiting)
        }
        self.hosts = sums.values.sorted { $0.origin < $1.origin }
    }

    /// The number of open connections that no request uses.
    public var idle: Int { hosts.reduce(0) { $0 + $1.idle } }
    /// The number of connections that requests use or that are being opened for them.
    public var inUse: Int { hosts.reduce(0) { $0 + $1.inUse } }
    /// The number of requests without a connection.
    public var waiting: Int { hosts.reduce(0) { $0 + $1.waiting } }
    /// The number of all connections.
    public var open: Int { idle + inUse }
}

extension ConnectionStatistics: CustomStringConvertible {
    /// The hosts on one line.
    public var description: String { hosts.map(\.description).joined(separator: "; ") }
}

extension ConnectionStatistics.Host: CustomStringConvertible {
    /// The figures on one line: `https://example.com: 2 in use, 4 idle, 0 waiting`.
    public var description: String { "\(origin): \(inUse) in use, \(idle) idle, \(waiting) waiting" }
}
