import HTTPTypes

#if canImport(FoundationNetworking)
    import Foundation
    public import FoundationNetworking
#else
    public import Foundation
#endif
#if canImport(Security)
    public import Security
#endif

// What `URLSessionTaskTransactionMetrics` tells beside the numbers, in its types.
extension TransactionMetrics {
    /// The request that was sent, without its body. It is one for `about:blank` when it is not known: in metrics that
    /// somebody made.
    public var request: URLRequest {
        guard let request = heads?.request,
            let url = URL(keepingEscapesOf: "\(request.scheme ?? "")://\(request.authority ?? "")\(request.path ?? "")")
        else { return URLRequest(url: Self.blank) }
        var urlRequest = URLRequest(url: url)
        urlRequest.httpMethod = request.method.rawValue
        urlRequest.headers = HTTPHeaders(request.headerFields)
        return urlRequest
    }

    private static let blank = URL(string: "about:blank") ?? URL(filePath: "/")

    /// The response that came; nil when none did.
    public var response: URLResponse? { heads?.response?.httpURLResponse }

    /// Whether the response came over the network or from a cache.
    public var resourceFetchType: URLSessionTaskMetrics.ResourceFetchType {
        isFromCache ? .localCache : requestStartDate != nil || remoteAddress != nil ? .networkLoad : .unknown
    }

    /// The negotiated TLS version; nil without TLS or when the transport cannot tell.
    public var negotiatedTLSProtocolVersion: tls_protocol_version_t? {
        tlsProtocolNumber.flatMap { tls_protocol_version_t(rawValue: $0) }
    }

    /// The negotiated cipher suite; nil without TLS or when the transport cannot tell.
    public var negotiatedTLSCipherSuite: tls_ciphersuite_t? {
        tlsCipherSuiteNumber.flatMap { tls_ciphersuite_t(rawValue: $0) }
    }

    /// How the host's name was looked up, which is not known.
    public var domainResolutionProtocol: URLSessionTaskMetrics.DomainResolutionProtocol { .unknown }

    /// Whether the connection went over a cellular network: false, as nobody can tell.
    public var isCellular: Bool { false }

    /// Whether the connection went over a network that is expensive: false, as nobody can tell.
    public var isExpensive: Bool { false }

    /// Whether the connection went over a network in low data mode: false, as nobody can tell.
    public var isConstrained: Bool { false }

    /// Whether the connection used several paths at once: false, as none does.
    public var isMultipath: Bool { false }
}
