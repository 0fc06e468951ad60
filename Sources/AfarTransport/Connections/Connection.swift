public import Foundation

/// A connection over which bytes go both ways, with nothing of HTTP about them.
///
/// One task may read and another write at the same time. What reads or writes ends when its task is cancelled; the
/// connection goes on then, and what was not sent yet goes out before what is written next.
public protocol Connection: AnyObject, Sendable {
    /// How the connection was made: addresses, times, TLS.
    var metrics: TransactionMetrics { get }

    /// Reads what has come, and waits for something if nothing has.
    ///
    /// - Parameters:
    ///   - limit: How many bytes are wanted at most.
    ///   - timeout: How long to wait, in seconds; nil waits as long as it takes.
    /// - Returns: At least one byte; none when the peer has ended its side.
    /// - Throws: A ``TransportError``.
    func read(atMost limit: Int, timeout: TimeInterval?) async throws -> Data

    /// Writes bytes; returns when the system has taken them all, so a slow peer holds the writer back.
    ///
    /// - Parameters:
    ///   - bytes: The bytes.
    ///   - timeout: How long none of them may be taken, in seconds; nil waits as long as it takes.
    /// - Throws: A ``TransportError``.
    func write(_ bytes: Data, timeout: TimeInterval?) async throws

    /// Tells the peer that nothing more comes. Reading goes on.
    ///
    /// - Throws: A ``TransportError``.
    func finishWriting() async throws

    /// Secures a connection that is not yet; nothing may be read or written meanwhile.
    ///
    /// - Parameter target: Whose certificates are expected, and the rules for them.
    /// - Throws: A ``TransportError``.
    func startTLS(to target: ConnectionTarget) async throws

    /// Closes the connection at once. What reads or writes fails with ``TransportError/Code-swift.struct/cancelled``.
    func close()
}
