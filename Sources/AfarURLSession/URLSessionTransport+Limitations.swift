extension URLSessionTransport {
    /// Something that another transport can do and this one cannot.
    ///
    /// The list is for documentation, and for tests that need a reason to leave a case out.
    public enum Limitation: String, Sendable, CaseIterable {
        /// Bodies made while they are sent are refused: a stream is read by blocking the queue of all tasks.
        case streamedUpload
        /// The connect timeout is not kept: `URLSession` has none.
        case connectTimeout
        /// Requests of GET and HEAD with a body are refused: `URLSession` fails them.
        case bodyWithGet
        /// Methods that `URLSession` would write differently ("get") are refused.
        case methodCase
        /// Bodies arrive decoded whether asked or not; when decoding is off, an encoded response is an error.
        case rawContent
        /// Fields of one name are joined into one line, and the order of fields is lost, both ways: Foundation keeps
        /// them in a dictionary. Set-Cookie lines are taken apart again as well as can be told.
        case fieldOrder
        /// The response's HTTP version is reported as 1.1, whatever it was: Foundation does not tell it.
        case httpVersion
        /// Trailer fields are not reported.
        case trailers
        /// A compressed body without a Content-Length is not held to the ``ExchangeOptions/decompressionLimit``: Foundation
        /// does not tell how much was received for it.
        case decompressionRatio
        /// Idle connections cannot be closed before the transport is released: Foundation has no call for it.
        case closingIdleConnections

        /// The system's libcurl decodes bodies: an unknown content coding fails, and so do several gzip members; a coding that
        /// ends too early isn't noticed.
        case contentDecoding
        /// A file to upload is held in memory, and one of more than 256 MiB is refused: the library traps when an upload from a
        /// file is cancelled or its connection reset.
        case largeFileUpload
        /// Requests may stand still until their idle timeout after an upload broke off beside them: the library does not wake
        /// up.
        case standstill
        /// A slow reader does not hold the server back, and its buffer is capped: the library cannot pause a transfer.
        case backpressure
        /// A server that sends without end faster than the library reads (one on the same machine) keeps being read
        /// after its exchange has failed or was cancelled: the library stops a task only when it pauses for breath.
        case stoppingAFlood
        /// A running exchange is not suspended, only one that has not started: the library drops the connection, and
        /// sends the whole request again when the task resumes.
        case suspension
        /// Metrics hold the start, the head, the end and the bytes of bodies: the library collects none.
        case metrics
        /// The server's trust cannot be evaluated: the library makes no such challenge.
        case serverTrust
        /// The lowest TLS version is what the system's OpenSSL allows, which is 1.2 unless a policy was made laxer than
        /// OpenSSL's own: the library sets none.
        case lowestTLSVersion
        /// The variables `http_proxy`, `HTTPS_PROXY`, `ALL_PROXY` and `NO_PROXY` of the environment are obeyed, also in
        /// lower case: the library leaves proxies to libcurl.
        case proxiesOfTheEnvironment
        /// Bytes that a server sends over a kept connection before anything was asked are taken for the next answer: the
        /// library does not look.
        case unsolicitedBytes
        /// A body without a length is complete when the server closes the TCP connection without a TLS alert, whatever
        /// ``ExchangeOptions/acceptsBodiesWithoutTLSCloseNotify`` says: the library does not report it.
        case bodyWithoutCloseNotify
        /// Accept, Accept-Language, User-Agent, Connection and (without a body, beyond GET and HEAD) Content-Length: 0
        /// are sent unless the request sets these fields.
        case impliedFields
        /// The body of a 301, 302, 303 or 305 to 308 without a usable Location is lost: the library drops it.
        case bodyWithoutLocation
        /// A status line without a reason's space, or ended by LF alone, is malformed: the library parses so.
        case lenientStatusLine
        /// A peer that closes in the middle of a response's head ends the process: the library traps.
        case truncatedHead
        /// Trailer fields after a chunked body end the process: the library takes them for a new head, and traps.
        case receivedTrailers
        /// A Content-Length of 9,223,372,036,854,775,296 (2^63 − 512) or more that fits into 64 bits ends the process: the
        /// library converts it into a number with a fraction and back, and traps before anyone is asked.
        case enormousContentLength
        /// A Location without a scheme, whose host is an IPv6 address or holds an escaped character that no host may
        /// have, ends the process: the library traps before anyone is asked.
        case unresolvableLocation

        static let everywhere: [Self] = [
            .streamedUpload, .connectTimeout, .bodyWithGet, .methodCase, .rawContent, .fieldOrder, .httpVersion,
            .trailers, .decompressionRatio, .closingIdleConnections,
        ]
    }

    /// What this transport cannot do on this platform.
    public static var limitations: [Limitation] { Platform.limitations }
}
