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

extension TransportError {
    /// What went wrong. More codes may come; compare with those you handle.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        private enum Name: String, Sendable {
            case cancelled, timedOut, invalidURL, unsupportedURL, cannotFindHost, cannotConnect, notConnected
            case connectionLost, secureConnectionFailed, certificateUntrusted, certificateHasBadDate
            case certificateNotYetValid, certificateHasUnknownRoot, clientCertificateRejected
            case clientCertificateRequired, malformedResponse, headTooLarge, responseTooLarge, bodyIncomplete
            case undecodableContent, requestBodyFailed, deliveryFailed, unsupportedByTransport, invalidUse
            case tooManyRedirects, invalidRedirect, insecureRedirect, invalidCredential, notCached, outOfResources
            case proxyFailed, unknown
        }

        private let name: Name
        /// The code that Foundation's users know for this failure.
        public let urlErrorCode: URLError.Code

        private init(_ name: Name, _ urlErrorCode: URLError.Code) {
            self.name = name
            self.urlErrorCode = urlErrorCode
        }

        /// The code's name.
        public var description: String { name.rawValue }

        /// The caller wanted no more.
        public static let cancelled = Code(.cancelled, .cancelled)
        /// The connect, idle or total timeout passed; the message says which.
        public static let timedOut = Code(.timedOut, .timedOut)
        /// The URL cannot be used.
        public static let invalidURL = Code(.invalidURL, .badURL)
        /// The URL's scheme is not one that the transport speaks.
        public static let unsupportedURL = Code(.unsupportedURL, .unsupportedURL)
        /// The host's name has no address.
        public static let cannotFindHost = Code(.cannotFindHost, .cannotFindHost)
        /// The host refused the connection, or could not be reached.
        public static let cannotConnect = Code(.cannotConnect, .cannotConnectToHost)
        /// A proxy could not be reached, or did not open a way to the host; the message says which and why.
        public static let proxyFailed = Code(.proxyFailed, .cannotConnectToHost)
        /// This machine has no route to the host.
        public static let notConnected = Code(.notConnected, .notConnectedToInternet)
        /// The connection broke.
        public static let connectionLost = Code(.connectionLost, .networkConnectionLost)
        /// TLS could not be agreed on.
        public static let secureConnectionFailed = Code(.secureConnectionFailed, .secureConnectionFailed)
        /// The server's certificate is not trusted, or is for another host.
        public static let certificateUntrusted = Code(.certificateUntrusted, .serverCertificateUntrusted)
        /// The server's certificate has expired.
        public static let certificateHasBadDate = Code(.certificateHasBadDate, .serverCertificateHasBadDate)
        /// The server's certificate is not valid yet.
        public static let certificateNotYetValid = Code(.certificateNotYetValid, .serverCertificateNotYetValid)
        /// The server's certificate chain ends in a root that is not known here.
        public static let certificateHasUnknownRoot = Code(
            .certificateHasUnknownRoot, .serverCertificateHasUnknownRoot)
        /// The server refused the client's certificate, or it could not be used.
        public static let clientCertificateRejected = Code(.clientCertificateRejected, .clientCertificateRejected)
        /// The server wants a client certificate.
        public static let clientCertificateRequired = Code(.clientCertificateRequired, .clientCertificateRequired)
        /// The server's answer is not HTTP, or breaks its rules.
        public static let malformedResponse = Code(.malformedResponse, .badServerResponse)
        /// The response's head exceeds the limits.
        public static let headTooLarge = Code(.headTooLarge, .badServerResponse)
        /// The response's body exceeds the limit.
        public static let responseTooLarge = Code(.responseTooLarge, .dataLengthExceedsMaximum)
        /// The connection ended before the body did.
        public static let bodyIncomplete = Code(.bodyIncomplete, .networkConnectionLost)
        /// The body's content coding is unknown or broken.
        public static let undecodableContent = Code(.undecodableContent, .cannotDecodeContentData)
        /// The request's body could not be read, or has another length than it said.
        public static let requestBodyFailed = Code(.requestBodyFailed, .requestBodyStreamExhausted)
        /// The response's body could not be written where it should go.
        public static let deliveryFailed = Code(.deliveryFailed, .cannotWriteToFile)
        /// The exchange requires a feature that this transport does not support.
        public static let unsupportedByTransport = Code(.unsupportedByTransport, .resourceUnavailable)
        /// The transport, or what it returned, was used in a way that its documentation excludes.
        public static let invalidUse = Code(.invalidUse, .unknown)
        /// More redirects than allowed.
        public static let tooManyRedirects = Code(.tooManyRedirects, .httpTooManyRedirects)
        /// A redirect leads to where no request can be sent.
        public static let invalidRedirect = Code(.invalidRedirect, .redirectToNonExistentLocation)
        /// The request wants nothing from the network, and the cache has no response.
        public static let notCached = Code(.notCached, .resourceUnavailable)
        /// A redirect leads from a secure connection to one that is not, which is not allowed.
        public static let insecureRedirect = Code(.insecureRedirect, .appTransportSecurityRequiresSecureConnection)
        /// The user name or password cannot be sent in the way in which the server wants it.
        public static let invalidCredential = Code(.invalidCredential, .userAuthenticationRequired)
        /// Memory or descriptors ran out.
        public static let outOfResources = Code(.outOfResources, .resourceUnavailable)
        /// None of the above.
        public static let unknown = Code(.unknown, .unknown)
    }

    /// This error as Foundation's users know it, with itself beneath. In its `failingURL` the values of parameters whose
    /// names tell of credentials are `***`, as it is printed with the error; the request has its URL as it is.
    public var urlError: URLError {
        var underlying = self
        // The request has it, or nobody is to have it; and errors are kept.
        underlying.partialBody = nil
        var userInfo: [String: Any] = [
            NSUnderlyingErrorKey: underlying,
            NSLocalizedDescriptionKey: description,
        ]
        if let url {
            let shown = Redaction.standard.url(url)
            userInfo[NSURLErrorFailingURLErrorKey] = URL(keepingEscapesOf: shown)
            // What `failureURLString` reads; Foundation's constant for it is deprecated on Linux.
            userInfo["NSErrorFailingURLStringKey"] = shown
        }
        return URLError(code.urlErrorCode, userInfo: userInfo)
    }
}

extension TransportError.Code {
    /// All codes.
    package static let all: [Self] = [
        .cancelled, .timedOut, .invalidURL, .unsupportedURL, .cannotFindHost, .cannotConnect, .proxyFailed,
        .notConnected, .connectionLost, .secureConnectionFailed, .certificateUntrusted, .certificateHasBadDate,
        .certificateNotYetValid, .certificateHasUnknownRoot, .clientCertificateRejected,
        .clientCertificateRequired, .malformedResponse, .headTooLarge, .responseTooLarge, .bodyIncomplete,
        .undecodableContent, .requestBodyFailed, .deliveryFailed, .unsupportedByTransport, .invalidUse,
        .tooManyRedirects, .invalidRedirect, .notCached, .insecureRedirect, .invalidCredential, .outOfResources,
        .unknown,
    ]

    /// The code of a name; nil when there is none.
    package init?(named name: String) {
        guard let code = Self.all.first(where: { $0.description == name }) else { return nil }
        self = code
    }
}

extension TransportError.Code {
    /// What an error of Foundation's means, in a transport's terms.
    package init(_ code: URLError.Code) {
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
