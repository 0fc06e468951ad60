public import Foundation

/// Why an exchange failed: what, in which phase, at which URL and peer, and because of what.
///
/// A session surfaces it as ``AFError/sessionTaskFailed(error:)`` around a `URLError` of the fitting code, whose
/// `NSUnderlyingErrorKey` holds this error.
public struct TransportError: Error, Sendable {
    /// How far an exchange had come. The raw values are the words that messages use.
    public enum Phase: String, Sendable, Hashable {
        /// Nothing was sent; the exchange waits for a connection, or was refused.
        case queued
        /// Looking up the host's addresses.
        case resolving
        /// Opening the connection.
        case connecting
        /// The TLS handshake.
        case tlsHandshake = "securing"
        /// Sending the request.
        case sending
        /// Waiting for the response's head.
        case awaitingResponse = "waiting"
        /// Reading the response's body.
        case receiving
    }

    /// What went wrong.
    public var code: Code
    /// How far the exchange had come.
    public var phase: Phase
    /// The URL asked, without userinfo.
    public var url: String?
    /// The address and port of the peer, when one was reached or tried: "192.0.2.7:443", "[2001:db8::1]:443".
    public var peer: String?
    /// What happened, in one line of words. Credentials in URLs are hidden, and control characters from a server visible.
    public var message: String
    /// The transport's own number for the failure (libcurl's CURLcode, say).
    public var transportCode: Int?
    /// The operating system's `errno`, when it said one.
    public var systemError: Int32?
    /// What caused the failure: an error of a body's reader, of a hook, of another transport.
    public var underlying: (any Error)?
    /// Metrics and byte counts up to the failure.
    public var report = TransportReport()
    /// What had come of a body that was to be collected in memory; nil when its head had not come.
    public var partialBody: Data?

    /// Makes an error.
    public init(
        _ code: Code,
        phase: Phase,
        url: String?,
        peer: String? = nil,
        message: String,
        transportCode: Int? = nil,
        systemError: Int32? = nil,
        underlying: (any Error)? = nil
    ) {
        self.code = code
        self.phase = phase
        self.url = url
        self.peer = peer
        self.message = Redaction.standard.line(message)
        self.transportCode = transportCode
        self.systemError = systemError
        self.underlying = underlying
    }
}

extension TransportError.Phase {
    /// The earlier name of ``tlsHandshake``.
    @available(*, deprecated, renamed: "tlsHandshake")
    public static var securing: Self { .tlsHandshake }

    /// The earlier name of ``awaitingResponse``.
    @available(*, deprecated, renamed: "awaitingResponse")
    public static var waiting: Self { .awaitingResponse }

    /// What stands between the phase and the URL in a sentence.
    fileprivate var preposition: String {
        switch self {
        case .queued, .awaitingResponse: "for "
        case .resolving: "the host of "
        case .connecting, .sending: "to "
        case .tlsHandshake: "the connection to "
        case .receiving: "from "
        }
    }
}

extension TransportError: CustomStringConvertible, LocalizedError {
    /// The error in one line.
    public var description: String {
        let redaction = Redaction.standard
        var line = "\(code) while \(phase.rawValue)"
        if let url { line += " \(phase.preposition)\(redaction.url(url))" }
        if let peer { line += " (peer \(peer))" }
        line += ": \(message)"
        if let systemError { line += " [\(String(cString: strerror(systemError)))]" }
        if let underlying { line += "; caused by: \(underlying.cause)" }
        return redaction.line(line)
    }

    /// The same line.
    public var errorDescription: String? { description }
}
