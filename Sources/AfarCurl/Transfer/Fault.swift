import AfarTransport
import Foundation

/// A cause for failure that Afar itself found, before or beside what libcurl says. It outranks libcurl's code.
package struct Fault: Error {
    var code: TransportError.Code
    var message: String
    var systemError: Int32?
    var underlying: (any Error)?

    init(
        _ code: TransportError.Code, _ message: String, systemError: Int32? = nil, underlying: (any Error)? = nil
    ) {
        self.code = code
        self.message = message
        self.systemError = systemError
        self.underlying = underlying
    }

    static let cancelled = Fault(.cancelled, "the exchange was cancelled")

    /// More of a body is there than is read for nothing.
    static let discarded = Fault(.responseTooLarge, "nobody wants the response's body")

    static func connectTimeout(_ seconds: TimeInterval) -> Fault {
        Fault(.timedOut, "no connection was made within \(seconds.formatted()) s (connect timeout)")
    }

    static func idleTimeout(_ seconds: TimeInterval, byteCount: Int64) -> Fault {
        let amount = byteCount == 0 ? "nothing" : "no more than \(byteCount) bytes"
        return Fault(.timedOut, "\(amount) arrived or left for \(seconds.formatted()) s (idle timeout)")
    }

    static func totalTimeout(_ seconds: TimeInterval) -> Fault {
        Fault(.timedOut, "the exchange took more than \(seconds.formatted()) s (total timeout)")
    }
}
