import AfarTransport
import CLibcurl

/// The version of HTTP that libcurl uses for a request.
enum HTTPVersion: Equatable {
    case http1
    /// HTTP/2 if the server agrees to it in the handshake; otherwise HTTP/1.1.
    case negotiated
    /// HTTP/2 without negotiation, with or without TLS.
    case http2
    /// HTTP/2 without negotiation, on a connection that serves only this request.
    case http2Alone
    case http3

    init(_ hop: Hop, isSecure: Bool, library: CurlLibrary = .shared) {
        switch hop.exchange.options.httpVersion {
        case .automatic where isSecure && library.supportsHTTP2 && library.pausesStreams,
            .http2 where isSecure:
            self = Self.canUseHTTP2(hop, library) ? .negotiated : .http1
        case .automatic, .http1, .http2: self = .http1
        case .http2PriorKnowledge: self = isSecure || library.reusesPlainHTTP2 ? .http2 : .http2Alone
        case .http3: self = .http3
        }
    }

    /// Whether the library's HTTP/2 is suitable for a request. Before libcurl 8.17, a paused request stalls all others on its
    /// connection, so HTTP/2 is unsuitable for a request that may be paused.
    private static func canUseHTTP2(_ hop: Hop, _ library: CurlLibrary) -> Bool {
        // Negotiate and NTLM authenticate the connection, so no other request may share it.
        guard hop.exchange.connectionAuthentication == nil else { return false }
        if case .stream = hop.exchange.delivery, !library.pausesStreams { return false }
        return library.sendsBodiesOverHTTP2 || hop.exchange.body.isNone
    }

    /// Whether several requests can share a connection.
    var isShared: Bool { self == .negotiated || self == .http2 }

    /// The value of `CURLOPT_HTTP_VERSION`.
    var option: Int {
        switch self {
        case .http1: CURL_HTTP_VERSION_1_1
        case .negotiated: CURL_HTTP_VERSION_2TLS
        case .http2, .http2Alone: CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE
        case .http3: afar_http_version_3_only()
        }
    }
}
