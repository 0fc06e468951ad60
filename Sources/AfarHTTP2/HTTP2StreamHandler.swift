package import AfarTransport
package import HTTPTypes

/// The receiver of one stream's events, and the source of its request's body.
///
/// The last call is either ``streamDidEnd()`` or ``streamDidFail(_:)``, unless the stream is canceled or the session is released.
/// In all these cases, the session then releases the handler. During a call, the handler can use
/// ``HTTP2Session/submit(_:defaultFields:body:url:handler:)``, ``HTTP2Session/cancel(_:)``, ``HTTP2Session/consume(_:of:)``,
/// ``HTTP2Session/resumeBody(of:)`` and ``HTTP2Session/fail(_:)``.
package protocol HTTP2StreamHandler: AnyObject {
    /// An informational response (1xx).
    func streamDidReceiveInformational(_ head: ResponseHead)
    /// The final response.
    func streamDidReceiveHead(_ head: ResponseHead)
    /// Bytes of the body, which are valid during the call. After processing the bytes, call ``HTTP2Session/consume(_:of:)``.
    func streamDidReceiveBody(_ bytes: UnsafeRawBufferPointer)
    /// The trailer section, except fields that are forbidden there.
    func streamDidReceiveTrailers(_ trailers: HTTPFields)
    /// The response is complete. If the request hasn't been sent completely, the session has stopped sending it.
    func streamDidEnd()
    func streamDidFail(_ failure: HTTP2StreamFailure)

    /// Reads the next part of the request's body. It is called only if the request was submitted with a body.
    func readBody(into buffer: UnsafeMutableRawBufferPointer) throws(Fault) -> HTTP2BodyPart
}

/// The result of reading a request's body.
package enum HTTP2BodyPart {
    /// The number of bytes that were written to the buffer, and whether the body ends after them. An empty part that isn't the last
    /// means the same as ``wait``.
    case bytes(Int, isLast: Bool)
    /// No bytes are available. The body isn't read again before ``HTTP2Session/resumeBody(of:)``.
    case wait
    /// The body has ended and trailers follow.
    case trailers(HTTPFields)
}

/// The reason why a stream ended without a complete response.
package struct HTTP2StreamFailure: Error {
    package var fault: Fault
    /// Whether the server certainly hasn't processed the request. If so, the request can be sent again on another connection, even
    /// if it isn't idempotent (RFC 9113, section 8.7).
    package var isUnprocessed: Bool
    /// The error code that the server sent for the stream; nil if the failure has another cause. With HTTP_1_1_REQUIRED (0xd), the server
    /// requests HTTP/1.1 (RFC 9113, section 7).
    package var errorCode: UInt32?
}
