extension URLSessionTransport {
    /// A feature or behavior that other transports support and this one doesn't.
    ///
    /// The list is for documentation, and for tests that need a reason to leave out a case.
    public enum Limitation: String, Sendable, CaseIterable {
        /// Streamed request bodies are refused, because reading a stream would block the queue of all tasks.
        case streamedUpload
        /// The connect timeout doesn't apply, because `URLSession` doesn't have one.
        case connectTimeout
        /// GET and HEAD requests with a body are refused, because they fail in `URLSession`.
        case bodyWithGet
        /// Methods that `URLSession` would change, such as "get", are refused.
        case methodCase
        /// Bodies are always decoded. If decoding is off, an encoded response is an error.
        case rawContent
        /// Fields with the same name are joined, and the order of fields is lost, in requests and responses. Foundation stores fields in a
        /// dictionary. Set-Cookie lines are split again as far as possible.
        case fieldOrder
        /// The HTTP version of responses is always reported as 1.1, because Foundation doesn't report it.
        case httpVersion
        /// Trailer fields are not reported.
        case trailers
        /// The ``ExchangeOptions/decompressionLimit`` doesn't apply to a compressed body without a Content-Length, because
        /// Foundation doesn't report its encoded size.
        case decompressionRatio
        /// Idle connections can't be closed before the transport is released, because Foundation has no function that closes them.
        case closingIdleConnections

        /// The system's libcurl decodes bodies. Unknown content codings and gzip bodies with several members fail, and a truncated
        /// encoded body isn't detected.
        case contentDecoding
        /// A file for an upload is held in memory, and files of more than 256 MiB are refused. If an upload directly from a file is
        /// canceled or its connection is reset, Foundation traps.
        case largeFileUpload
        /// After an upload is aborted, concurrent requests can stall until their idle timeout, because nothing wakes Foundation to continue
        /// them.
        case recoveryAfterFailedUpload
        /// A slow reader doesn't slow the server down, because Foundation can't pause a transfer. The reader's buffer is limited.
        case backpressure
        /// Foundation can stop a task only while no data arrives. If a server on the same machine sends endless data faster than Foundation
        /// reads it, reading continues even after a failure or cancellation.
        case stoppingEndlessResponses
        /// Only an exchange that has not started can be suspended. If a running task is suspended, Foundation drops its connection, and
        /// sends the whole request again on resumption.
        case suspension
        /// Metrics contain only the times of the start, the head and the end, and the sizes of bodies, because Foundation collects no
        /// metrics.
        case metrics
        /// Server trust can't be evaluated, because Foundation doesn't send a challenge for it.
        case serverTrust
        /// The minimum TLS version is that of the system's OpenSSL, because Foundation doesn't set one. OpenSSL's default is 1.2. A system
        /// policy can be less strict.
        case lowestTLSVersion
        /// Proxies from the environment are used, because Foundation leaves proxies to libcurl. The variables are
        /// `http_proxy`, `HTTPS_PROXY`, `ALL_PROXY` and `NO_PROXY`, the last three also in lowercase.
        case environmentProxies
        /// Foundation mistakes unsolicited bytes on a reused connection for the next response, because it doesn't check for them.
        case unsolicitedBytes
        /// Foundation doesn't report a missing TLS alert. A body without a length is therefore complete when the server closes the TCP
        /// connection, regardless of ``ExchangeOptions/acceptsBodiesWithoutTLSCloseNotify``.
        case bodyWithoutCloseNotify
        /// `Accept`, `Accept-Language`, `User-Agent` and `Connection` are sent unless the request sets these fields. The same
        /// applies to `Content-Length: 0` for requests without a body, except GET and HEAD.
        case impliedFields
        /// Foundation drops the body of a response with the status 301–303 or 305–308 if the Location is missing or unusable.
        case bodyWithoutLocation
        /// Foundation treats a status line as malformed if it has no space before the reason or ends with LF alone.
        case lenientStatusLine
        /// The process traps if a peer closes the connection in the middle of a response's head.
        case truncatedHead
        /// The process traps if trailer fields follow a chunked body, because Foundation mistakes them for a new head.
        case receivedTrailers
        /// The process traps if the Content-Length is at least 9,223,372,036,854,775,296 (2^63 − 512) but still fits into 64 bits.
        /// Foundation converts the number to a floating-point number and back before it calls its delegate.
        case enormousContentLength
        /// The process traps on a Location without a scheme in two cases: the host is an IPv6 address, or it contains a percent-encoded
        /// character that isn't allowed in a host. This happens before Foundation calls its delegate.
        case unresolvableLocation

        static let everywhere: [Self] = [
            .streamedUpload, .connectTimeout, .bodyWithGet, .methodCase, .rawContent, .fieldOrder, .httpVersion,
            .trailers, .decompressionRatio, .closingIdleConnections,
        ]
    }

    /// The limitations of this transport on the current platform.
    public static var limitations: [Limitation] { Platform.limitations }
}
