package import Foundation

/// The cause of a failure, before the URL, phase and report of its exchange are added to it.
package struct Fault: Error {
    package var code: TransportError.Code
    package var message: String
    package var systemError: Int32?
    package var underlying: (any Error)?

    package init(
        _ code: TransportError.Code, _ message: String, systemError: Int32? = nil, underlying: (any Error)? = nil
    ) {
        self.code = code
        self.message = message
        self.systemError = systemError
        self.underlying = underlying
    }

    /// Takes the cause of an error that a decoder threw.
    package init(_ error: TransportError) { self.init(error.code, error.message) }

    package static let cancelled = Fault(.cancelled, "the exchange was cancelled")

    /// A body that is discarded exceeds the limit up to which it is read.
    package static let discarded = Fault(.responseTooLarge, "the response's body is discarded")

    package static func connectTimeout(_ seconds: TimeInterval) -> Fault {
        Fault(.timedOut, "no connection was made within \(seconds.formatted()) s (connect timeout)")
    }

    package static func idleTimeout(_ seconds: TimeInterval, byteCount: Int64) -> Fault {
        let amount = byteCount == 0 ? "nothing" : "no more than \(byteCount) bytes"
        return Fault(.timedOut, "\(amount) arrived or left for \(seconds.formatted()) s (idle timeout)")
    }

    package static func headTimeout(_ seconds: TimeInterval) -> Fault {
        Fault(
            .timedOut,
            "the response's head was not complete within \(seconds.formatted()) s after its first byte (idle timeout)")
    }

    package static func totalTimeout(_ seconds: TimeInterval) -> Fault {
        Fault(.timedOut, "the exchange took more than \(seconds.formatted()) s (total timeout)")
    }
}
