package import AfarTransport

/// An invalid message (RFC 9112), or one that exceeds a limit. The connection can't be reused.
package struct HTTP1Error: Error, Equatable {
    package let code: TransportError.Code
    package let message: String

    package init(_ code: TransportError.Code, _ message: String) { (self.code, self.message) = (code, message) }

    static func malformed(_ message: String) -> HTTP1Error { HTTP1Error(.malformedResponse, message) }
}

extension Fault {
    package init(_ error: HTTP1Error) { self.init(error.code, error.message) }
}
