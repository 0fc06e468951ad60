/// The connections of a transport at a moment, by host.
public struct ConnectionStatistics: Sendable, Hashable, Codable {
    /// The connections to one host.
    public struct Host: Sendable, Hashable, Codable {
        /// The host's origin: `https://example.com`, with the port if it is not the scheme's own.
        public let origin: String
        /// The connections that are kept without a request.
        public let idle: Int
        /// The connections that requests use or are being opened for.
        public let inUse: Int
        /// The requests that have no connection yet: they wait for their turn, or for the host's address.
        public let waiting: Int
        /// All connections.
        public var open: Int { idle + inUse }

        /// Creates statistics of a host.
        public init(origin: String, idle: Int = 0, inUse: Int = 0, waiting: Int = 0) {
            self.origin = origin
            self.idle = idle
            self.inUse = inUse
            self.waiting = waiting
        }
    }

    /// The hosts to which there are connections, or requests that wait for one: each once, in alphabetical order.
    public let hosts: [Host]

    /// Creates statistics of hosts.
    public init(hosts: [Host]) { self.hosts = hosts.sorted { $0.origin < $1.origin } }

    /// The connections that are kept without a request.
    public var idle: Int { hosts.reduce(0) { $0 + $1.idle } }
    /// The connections that requests use or are being opened for.
    public var inUse: Int { hosts.reduce(0) { $0 + $1.inUse } }
    /// The requests that have no connection yet.
    public var waiting: Int { hosts.reduce(0) { $0 + $1.waiting } }
    /// All connections.
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
