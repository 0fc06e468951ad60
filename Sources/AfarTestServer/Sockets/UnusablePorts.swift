public import Foundation

/// A loopback port where nothing listens: every connection to it is refused.
///
/// The port is bound for as long as this object lives, so no other process can begin to listen there meanwhile.
public final class ClosedPort: Sendable {
    /// The port's number.
    public let number: UInt16

    /// `http://127.0.0.1:` and the number.
    public var url: URL { .loopback(port: number) }

    private let socket: Socket

    /// Reserves a free port.
    ///
    /// - Throws: ``SocketFailure`` when the system has none.
    public init() throws {
        socket = try Socket()
        number = try socket.bindToLoopback()
    }
}

/// A loopback port on which connecting never completes, for tests of connect timeouts.
///
/// A socket listens there, its queue is full, and nobody takes connections from it, so the system leaves further attempts
/// without an answer. The port is freed with this object.
public final class UnacceptingPort: Sendable {
    /// The port's number.
    public let number: UInt16

    /// `http://127.0.0.1:` and the number.
    public var url: URL { .loopback(port: number) }

    private let listener: Socket
    private let fillers: [Socket]

    /// Listens on a free port and fills its queue, which takes a quarter of a second.
    ///
    /// - Throws: ``SocketFailure`` when the system gives no port.
    public init() throws {
        listener = try Socket()
        number = try listener.bindToLoopback()
        try listener.listen(backlog: 0)
        var fillers: [Socket] = []
        // How many connections a queue of length 0 takes is the system's secret: until one gets stuck.
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

// MARK: - URLs

extension URL {
    static func loopback(port: UInt16, path: String = "") -> URL {
        let text = "http://127.0.0.1:\(port)"
        return URL(string: text + path) ?? URL(string: text) ?? URL(fileURLWithPath: "/")
    }
}
