import AfarTransport
import CLibcurl

/// The version of HTTP that libcurl is to speak for a request.
enum HTTPVersion: Equatable {
    case http1
    /// HTTP/2 if the server agrees to that in the handshake, or else HTTP/1.1.
    case negotiated
    /// HTTP/2 without a question, with TLS or without.
    case http2
    /// The same on a connection of its own.
    case http2Alone
    case http3

    init(_ hop: Hop, isSecure: Bool, library: CurlLibrary = .shared) {
        switch hop.exchange.options.httpVersion {
        case .automatic where isSecure && library.speaksHTTP2 && library.pausesStreams,
            .http2 where isSecure:
            self = Self.isFit(hop, library) ? .negotiated : .http1
        case .automatic, .http1, .http2: self = .http1
        case .http2PriorKnowledge: self = isSecure || library.reusesPlainHTTP2 ? .http2 : .http2Alone
        case .http3: self = .http3
        }
    }

    /// Whether the library's HTTP/2 is fit for a request: one that may stand still holds up all others of its connection, unless
    /// the library is new enough.
    private static func isFit(_ hop: Hop, _ library: CurlLibrary) -> Bool {
        // Negotiate and NTLM authenticate a connection, which no other request may share.
        guard hop.connectionAuthentication == nil else { return false }
        if case .stream = hop.exchange.delivery, !library.pausesStreams { return false }
        return library.sendsBodiesOverHTTP2 || hop.exchange.body.isNone
    }

    /// Whether many requests may share a connection.
    var isShared: Bool { self == .negotiated || self == .http2 }

    /// In libcurl's words.
    var option: Int {
        switch self {
        case .http1: CURL_HTTP_VERSION_1_1
        case .negotiated: CURL_HTTP_VERSION_2TLS
        case .http2, .http2Alone: CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE
        case .http3: afar_http_version_3_only()
        }
    }
}
