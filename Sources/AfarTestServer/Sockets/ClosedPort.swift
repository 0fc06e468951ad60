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

extension URL {
    static func loopback(port: UInt16, path: String = "") -> URL {
        let text = "http://127.0.0.1:\(port)"
        return URL(string: text + path) ?? URL(string: text) ?? URL(fileURLWithPath: "/")
    }
}
