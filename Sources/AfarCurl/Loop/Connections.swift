import AfarTransport

/// Maps the open sockets of a pool to requests and to libcurl's connections. libcurl identifies a connection only by its
/// addresses.
struct Connections {
    enum Use {
        case inUse(by: ObjectIdentifier, and: [ObjectIdentifier] = [])
        /// Idle since this time, in nanoseconds.
        case idle(since: UInt64)
        /// Shut down, but not yet closed by libcurl.
        case ended
    }

    private struct Connection {
        let host: String
        var use: Use
        /// The addresses and ports by which libcurl identifies the connection.
        var name: String?
        /// Whether several requests can use the connection at the same time.
        var isShared = false
        /// Nil without TLS.
        var tls: TLSConnection?
    }

    /// The connections, by socket.
    private var connections: [Connection?] = []
    private var nameless: Set<Int32> = []
    private var named: [String: Int32] = [:]
    /// The number of open connections, including idle and ended ones.
    private var count = 0
    private(set) var idleCount = 0
    private(set) var endedCount = 0

    var isEmpty: Bool { count == 0 }

    func contains(_ socket: Int32) -> Bool {
        connections.indices.contains(Int(socket)) && connections[Int(socket)] != nil
    }

    /// Whether a socket was opened, but no request was sent over it yet.
    func isUnestablished(_ socket: Int32) -> Bool { nameless.contains(socket) }

    func isIdle(_ socket: Int32) -> Bool {
        guard contains(socket), case .idle = connections[Int(socket)]?.use else { return false }
        return true
    }

    func hasEnded(_ socket: Int32) -> Bool {
        guard contains(socket), case .ended = connections[Int(socket)]?.use else { return false }
        return true
    }

    func isUsed(_ socket: Int32, by user: ObjectIdentifier) -> Bool {
        guard contains(socket), case .inUse(let first, let others) = connections[Int(socket)]?.use else { return false }
        return first == user || others.contains(user)
    }

    func isShared(_ socket: Int32) -> Bool { contains(socket) && connections[Int(socket)]?.isShared == true }

    func tls(of socket: Int32) -> TLSConnection? { contains(socket) ? connections[Int(socket)]?.tls : nil }

    /// The sockets of shared connections that are in use.
    var sharedInUse: [Int32] {
        connections.indices.compactMap { socket in
            guard let connection = connections[socket], connection.isShared, case .inUse = connection.use else {
                return nil
            }
            return Int32(socket)
        }
    }

    /// Adds a request to a connection.
    mutating func take(_ socket: Int32, by user: ObjectIdentifier, isShared: Bool, tls: TLSConnection? = nil) {
        guard contains(socket), let use = connections[Int(socket)]?.use else { return }
        connections[Int(socket)]?.tls = tls
        if isShared, connections[Int(socket)]?.isShared == false { connections[Int(socket)]?.isShared = true }
        guard !isUsed(socket, by: user) else { return }
        if isShared, case .inUse(let first, let others) = use {
            setUse(.inUse(by: first, and: others + [user]), of: socket)
        } else {
            setUse(.inUse(by: user), of: socket)
        }
    }

    /// Removes a request from a connection. When the last request has been removed, the connection becomes idle. Returns false if
    /// the request wasn't using the connection.
    mutating func release(_ socket: Int32, by user: ObjectIdentifier, at now: UInt64) -> Bool {
        guard isUsed(socket, by: user), case .inUse(let first, var others) = connections[Int(socket)]?.use else {
            return false
        }
        if first != user {
            others.removeAll { $0 == user }
            setUse(.inUse(by: first, and: others), of: socket)
        } else if let next = others.popLast() {
            setUse(.inUse(by: next, and: others), of: socket)
        } else {
            setUse(.idle(since: now), of: socket)
        }
        return true
    }

    /// Adds a connection for a socket that was opened for a request.
    mutating func open(_ socket: Int32, to host: String, by user: ObjectIdentifier) {
        while connections.count <= Int(socket) { connections.append(nil) }
        close(socket)
        connections[Int(socket)] = Connection(host: host, use: .inUse(by: user))
        count += 1
        nameless.insert(socket)
    }

    mutating func close(_ socket: Int32) {
        guard contains(socket), let connection = connections[Int(socket)] else { return }
        note(connection.use, -1)
        connections[Int(socket)] = nil
        count -= 1
        nameless.remove(socket)
        if let name = connection.name, named[name] == socket { named[name] = nil }
    }

    mutating func setUse(_ use: Use, of socket: Int32) {
        guard contains(socket), let before = connections[Int(socket)]?.use else { return }
        connections[Int(socket)]?.use = use
        note(before, -1)
        note(use, 1)
    }

    private mutating func note(_ use: Use, _ change: Int) {
        switch use {
        case .inUse: break
        case .idle: idleCount += change
        case .ended: endedCount += change
        }
    }

    var idle: [(socket: Int32, since: UInt64)] {
        connections.indices.compactMap { socket in
            guard case .idle(let since)? = connections[socket]?.use else { return nil }
            return (Int32(socket), since)
        }
    }

    /// The connections that were not shut down.
    var connected: [(socket: Int32, host: String, isIdle: Bool)] {
        connections.indices.compactMap { socket in
            guard let connection = connections[socket] else { return nil }
            return switch connection.use {
            case .inUse: (Int32(socket), connection.host, false)
            case .idle: (Int32(socket), connection.host, true)
            case .ended: nil
            }
        }
    }

    /// Returns the socket of a connection; nil if none matches. `likely` is the socket that was opened last for the transfer.
    mutating func find(_ name: String, localPort: Int32, likely: Int32?) -> Int32? {
        if let socket = named[name] { return socket }
        let hasLocalPort = { (socket: Int32) in SocketAddress(localOf: socket)?.port == Int(localPort) }
        let first = likely.flatMap { nameless.contains($0) && hasLocalPort($0) ? $0 : nil }
        guard let socket = first ?? nameless.first(where: hasLocalPort) else { return nil }
        nameless.remove(socket)
        named[name] = socket
        connections[Int(socket)]?.name = name
        return socket
    }
}
