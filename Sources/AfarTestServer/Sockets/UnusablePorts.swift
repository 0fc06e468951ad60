public import Foundation

/// A loopback port without a listener: the system refuses all connections.
///
/// The port stays bound for the lifetime of this object, so no other process can listen on it.
public final class ClosedPort: Sendable {
    /// The port's number.
    public let number: UInt16

    /// The URL `http://127.0.0.1:` with the port.
    public var url: URL { .loopback(port: number) }

    private let socket: Socket

    /// Reserves a free port.
    ///
    /// - Throws: ``SocketFailure`` if no port is available.
    public init() throws {
        socket = try Socket()
        number = try socket.bindToLoopback()
    }
}

/// A loopback port on which connecting never completes, to test connect timeouts.
///
/// A socket listens on the port with a full queue and accepts no connections, so the system doesn't respond to further attempts.
/// The port is released with this object.
public final class UnacceptingPort: Sendable {
    /// The port's number.
    public let number: UInt16

    /// The URL `http://127.0.0.1:` with the port.
    public var url: URL { .loopback(port: number) }

    private let listener: Socket
    private let fillers: [Socket]

    /// Listens on a free port and fills its queue, which takes a quarter of a second.
    ///
    /// - Throws: ``SocketFailure`` if no port is available.
    public init() throws {
        listener = try Socket()
        number = try listener.bindToLoopback()
        try listener.listen(backlog: 0)
        var fillers: [Socket] = []
        // The capacity of a queue of length 0 depends on the system.
        while fillers.count < 64 {
            let filler = try Socket()
            filler.disableBlocking()
            try filler.connect(port: number)
            fillers.append(filler)
            guard filler.isConnected(within: 0.25) else { break }
        }
        self.fillers = fillers
    }
}

extension URL {
    static func loopback(port: UInt16, path: String = "") -> URL {
        let text = "http://127.0.0.1:\(port)"
        return URL(string: text + path) ?? URL(string: text) ?? URL(fileURLWithPath: "/")
    }
}
