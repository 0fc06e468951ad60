public import Foundation

/// The reason why an exchange failed: the problem, the phase, the URL, the peer and the cause.
///
/// A session reports this error as ``AFError/sessionTaskFailed(error:)`` with a `URLError` of the corresponding code, whose
/// `NSUnderlyingErrorKey` contains this error.
public struct TransportError: Error, Sendable {
    /// The phase of an exchange. Messages use the raw values.
    public enum Phase: String, Sendable, Hashable {
        /// Nothing has been sent. The exchange is waiting for a connection, or was rejected.
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

    /// The kind of the failure.
    public var code: Code
    /// The phase in which the exchange failed.
    public var phase: Phase
    /// The requested URL, without user information.
    public var url: String?
    /// The address and port of the peer that was reached or tried, if any: "192.0.2.7:443", "[2001:db8::1]:443".
    public var peer: String?
    /// A description of the problem on one line. Credentials in URLs are hidden, and control characters are escaped.
    public var message: String
    /// The transport's own error number, such as libcurl's CURLcode.
    public var transportCode: Int?
    /// The operating system's `errno`, if there is one.
    public var systemError: Int32?
    /// The error that caused the failure: from a body's reader, a hook, or another transport.
    public var underlying: (any Error)?
    /// Metrics and byte counts up to the failure.
    public var report = TransportReport()
    /// The received part of a body that is collected in memory; nil if the head hasn't arrived.
    public var partialBody: Data?

    /// Creates an error.
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

    /// Creates an error from its cause.
    package init(_ fault: Fault, phase: Phase, url: String?, peer: String? = nil) {
        self.init(
            fault.code, phase: phase, url: url, peer: peer, message: fault.message, systemError: fault.systemError,
            underlying: fault.underlying)
    }
}

extension TransportError.Phase {
    /// The words between the phase and the URL in a sentence.
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
    /// The error on one line.
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

    /// The same text as ``description``.
    public var errorDescription: String? { description }
}

extension TransportError {
    /// The kind of a failure. Later versions can add codes, so compare a code only with the codes that you handle.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        private enum Name: String, Sendable {
            case cancelled, timedOut, invalidURL, unsupportedURL, cannotFindHost, cannotConnect, notConnected
            case connectionLost, secureConnectionFailed, certificateUntrusted, certificateHasBadDate
            case certificateNotYetValid, certificateHasUnknownRoot, clientCertificateRejected
            case clientCertificateRequired, malformedResponse, headTooLarge, responseTooLarge, bodyIncomplete
            case undecodableContent, requestBodyFailed, deliveryFailed, unsupportedByTransport, invalidUse
            case tooManyRedirects, invalidRedirect, insecureRedirect, invalidCredential, notCached, outOfResources
            case proxyFailed, refusedByPolicy, unknown
        }

        private let name: Name
        /// The corresponding code in Foundation.
        public let urlErrorCode: URLError.Code

        private init(_ name: Name, _ urlErrorCode: URLError.Code) {
            self.name = name
            self.urlErrorCode = urlErrorCode
        }

        /// The code's name.
        public var description: String { name.rawValue }

        /// The exchange was canceled.
        public static let cancelled = Code(.cancelled, .cancelled)
        /// The connect, idle or total timeout passed. The message names the timeout.
        public static let timedOut = Code(.timedOut, .timedOut)
        /// The URL is invalid or unusable.
        public static let invalidURL = Code(.invalidURL, .badURL)
        /// The transport doesn't support the URL's scheme.
        public static let unsupportedURL = Code(.unsupportedURL, .unsupportedURL)
        /// The host's name can't be resolved.
        public static let cannotFindHost = Code(.cannotFindHost, .cannotFindHost)
        /// The host refused the connection, or could not be reached.
        public static let cannotConnect = Code(.cannotConnect, .cannotConnectToHost)
        /// A proxy could not be reached, or did not connect to the host. The message names the proxy and the reason.
        public static let proxyFailed = Code(.proxyFailed, .cannotConnectToHost)
        /// The exchange's ``ConnectionPolicy`` refused every address of the host, its proxy or its Unix socket. The message names the host,
        /// the address and the reason. Such an exchange is never sent again.
        public static let refusedByPolicy = Code(.refusedByPolicy, .resourceUnavailable)
        /// This machine has no route to the host.
        public static let notConnected = Code(.notConnected, .notConnectedToInternet)
        /// The connection broke.
        public static let connectionLost = Code(.connectionLost, .networkConnectionLost)
        /// A secure connection could not be negotiated.
        public static let secureConnectionFailed = Code(.secureConnectionFailed, .secureConnectionFailed)
        /// The server's certificate is not trusted, or is for another host.
        public static let certificateUntrusted = Code(.certificateUntrusted, .serverCertificateUntrusted)
        /// The server's certificate has expired.
        public static let certificateHasBadDate = Code(.certificateHasBadDate, .serverCertificateHasBadDate)
        /// The server's certificate is not valid yet.
        public static let certificateNotYetValid = Code(.certificateNotYetValid, .serverCertificateNotYetValid)
        /// The server's certificate chain ends in an unknown root.
        public static let certificateHasUnknownRoot = Code(
            .certificateHasUnknownRoot, .serverCertificateHasUnknownRoot)
        /// The server rejected the client's certificate, or the certificate could not be used.
        public static let clientCertificateRejected = Code(.clientCertificateRejected, .clientCertificateRejected)
        /// The server requires a client certificate.
        public static let clientCertificateRequired = Code(.clientCertificateRequired, .clientCertificateRequired)
        /// The response is not valid HTTP.
        public static let malformedResponse = Code(.malformedResponse, .badServerResponse)
        /// The response's head exceeds the limits.
        public static let headTooLarge = Code(.headTooLarge, .badServerResponse)
        /// The response's body exceeds the limit.
        public static let responseTooLarge = Code(.responseTooLarge, .dataLengthExceedsMaximum)
        /// The connection ended before the body did.
        public static let bodyIncomplete = Code(.bodyIncomplete, .networkConnectionLost)
        /// The body's content coding is unknown or broken.
        public static let undecodableContent = Code(.undecodableContent, .cannotDecodeContentData)
        /// The request's body could not be read, or its length differs from the declared one.
        public static let requestBodyFailed = Code(.requestBodyFailed, .requestBodyStreamExhausted)
        /// The response's body could not be written to its destination.
        public static let deliveryFailed = Code(.deliveryFailed, .cannotWriteToFile)
        /// The exchange requires a feature that this transport does not support.
        public static let unsupportedByTransport = Code(.unsupportedByTransport, .resourceUnavailable)
        /// The transport, or a value that it returned, was used in a way that its documentation forbids.
        public static let invalidUse = Code(.invalidUse, .unknown)
        /// The number of redirects exceeds the limit.
        public static let tooManyRedirects = Code(.tooManyRedirects, .httpTooManyRedirects)
        /// A redirect leads to a URL that can't be requested.
        public static let invalidRedirect = Code(.invalidRedirect, .redirectToNonExistentLocation)
        /// The request permits only a cached response, and the cache has none.
        public static let notCached = Code(.notCached, .resourceUnavailable)
        /// A redirect leads from a secure connection to an insecure one, which isn't permitted.
        public static let insecureRedirect = Code(.insecureRedirect, .appTransportSecurityRequiresSecureConnection)
        /// The user name or password can't be sent in the form that the server requires.
        public static let invalidCredential = Code(.invalidCredential, .userAuthenticationRequired)
        /// The process ran out of memory or file descriptors.
        public static let outOfResources = Code(.outOfResources, .resourceUnavailable)
        /// None of the other codes applies.
        public static let unknown = Code(.unknown, .unknown)
    }

    /// This error as a `URLError`, with the original as its underlying error.
    ///
    /// In its `failingURL`, the values of parameters with sensitive names are replaced by `***`, because the URL is printed with
    /// the error. The request keeps the original URL.
    public var urlError: URLError {
        var underlying = self
        // Errors are often stored, so drop the body. The request also has it.
        underlying.partialBody = nil
        var userInfo: [String: Any] = [
            NSUnderlyingErrorKey: underlying,
            NSLocalizedDescriptionKey: description,
        ]
        if let url {
            let shown = Redaction.standard.url(url)
            userInfo[NSURLErrorFailingURLErrorKey] = URL(keepingEscapesOf: shown)
            // `failureURLString` reads this value. Foundation's constant is deprecated on Linux.
            userInfo["NSErrorFailingURLStringKey"] = shown
        }
        return URLError(code.urlErrorCode, userInfo: userInfo)
    }
}

extension TransportError.Code {
    package static let all: [Self] = [
        .cancelled, .timedOut, .invalidURL, .unsupportedURL, .cannotFindHost, .cannotConnect, .proxyFailed,
        .notConnected, .connectionLost, .secureConnectionFailed, .certificateUntrusted, .certificateHasBadDate,
        .certificateNotYetValid, .certificateHasUnknownRoot, .clientCertificateRejected,
        .clientCertificateRequired, .malformedResponse, .headTooLarge, .responseTooLarge, .bodyIncomplete,
        .undecodableContent, .requestBodyFailed, .deliveryFailed, .unsupportedByTransport, .invalidUse,
        .tooManyRedirects, .invalidRedirect, .notCached, .insecureRedirect, .invalidCredential, .outOfResources,
        .refusedByPolicy, .unknown,
    ]
}

extension TransportError.Code: LosslessStringConvertible {
    /// Creates the code with a name, which is its ``description``. Returns nil if there is no such code.
    public init?(_ name: String) {
        guard let code = Self.all.first(where: { $0.description == name }) else { return nil }
        self = code
    }
}

extension TransportError.Code {
    /// Creates the code that corresponds to a Foundation error code, or ``unknown`` if none corresponds.
    public init(_ code: URLError.Code) {
        switch code {
        case .cancelled: self = .cancelled
        case .timedOut: self = .timedOut
        case .badURL: self = .invalidURL
        case .unsupportedURL: self = .unsupportedURL
        case .cannotFindHost, .dnsLookupFailed: self = .cannotFindHost
        case .cannotConnectToHost: self = .cannotConnect
        case .notConnectedToInternet, .dataNotAllowed, .internationalRoamingOff: self = .notConnected
        case .networkConnectionLost: self = .connectionLost
        case .secureConnectionFailed: self = .secureConnectionFailed
        case .serverCertificateUntrusted: self = .certificateUntrusted
        case .serverCertificateHasBadDate: self = .certificateHasBadDate
        case .serverCertificateNotYetValid: self = .certificateNotYetValid
        case .serverCertificateHasUnknownRoot: self = .certificateHasUnknownRoot
        case .clientCertificateRejected: self = .clientCertificateRejected
        case .clientCertificateRequired: self = .clientCertificateRequired
        case .badServerResponse, .cannotParseResponse, .zeroByteResource: self = .malformedResponse
        case .dataLengthExceedsMaximum: self = .responseTooLarge
        case .cannotDecodeContentData, .cannotDecodeRawData: self = .undecodableContent
        case .requestBodyStreamExhausted, .fileDoesNotExist, .noPermissionsToReadFile: self = .requestBodyFailed
        case .httpTooManyRedirects: self = .tooManyRedirects
        case .resourceUnavailable: self = .outOfResources
        default: self = .unknown
        }
    }
}

extension Error {
    /// A description of this error that fits at the end of another error's description.
    package var cause: String {
        if let described = (self as? any LocalizedError)?.errorDescription { return described }
        guard self is any CustomNSError || type(of: self) is NSError.Type else { return String(describing: self) }
        // `String(describing:)` prints an NSError's userInfo, including URLs. The localized description is safe, but often little more than
        // a number. The underlying error's description can be better.
        let underlying = (self as NSError).userInfo[NSUnderlyingErrorKey]
        return (underlying as? any LocalizedError)?.errorDescription ?? localizedDescription
    }
}

/// An error that consists only of a message.
package struct Problem: LocalizedError, CustomStringConvertible {
    package let description: String
    package var errorDescription: String? { description }

    package init(_ description: String) { self.description = description }
}

/// The cause of a failure, without the URL, phase and report of the exchange.
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

    package init(_ error: TransportError) { self.init(error.code, error.message) }

    package static let cancelled = Fault(.cancelled, "the exchange was cancelled")

    /// The fault for a discarded body that exceeds the limit for reading it.
    package static let discarded = Fault(.responseTooLarge, "the response's body is discarded")

    package static func connectTimeout(_ seconds: TimeInterval) -> Fault {
        Fault(.timedOut, "no connection was established within \(seconds.formatted()) s (connect timeout)")
    }

    package static func idleTimeout(_ seconds: TimeInterval, byteCount: Int64) -> Fault {
        let amount =
            switch byteCount {
            case 0: "no bytes were"
            case 1: "only 1 byte was"
            default: "only \(byteCount) bytes were"
            }
        return Fault(.timedOut, "\(amount) sent or received within \(seconds.formatted()) s (idle timeout)")
    }

    static func headTimeout(_ seconds: TimeInterval) -> Fault {
        Fault(
            .timedOut,
            "the response's head was not complete within \(seconds.formatted()) s after its first byte (idle timeout)")
    }

    package static func totalTimeout(_ seconds: TimeInterval) -> Fault {
        Fault(.timedOut, "the exchange took more than \(seconds.formatted()) s (total timeout)")
    }
}
