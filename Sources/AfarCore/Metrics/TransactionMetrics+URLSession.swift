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

// The properties of `URLSessionTaskTransactionMetrics` other than numbers, with its types.
extension TransactionMetrics {
    /// The request that was sent, without its body. In metrics that were created without a request, it is a request for
    /// `about:blank`.
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

    /// The response; nil if none arrived.
    public var response: URLResponse? { heads?.response?.httpURLResponse }

    /// The source of the response: the network or a cache.
    public var resourceFetchType: URLSessionTaskMetrics.ResourceFetchType {
        isFromCache ? .localCache : requestStartDate != nil || remoteAddress != nil ? .networkLoad : .unknown
    }

    /// The negotiated TLS version; nil without TLS or if the transport doesn't report it.
    public var negotiatedTLSProtocolVersion: tls_protocol_version_t? {
        tlsProtocolNumber.flatMap { tls_protocol_version_t(rawValue: $0) }
    }

    /// The negotiated cipher suite; nil without TLS or if the transport doesn't report it.
    public var negotiatedTLSCipherSuite: tls_ciphersuite_t? {
        tlsCipherSuiteNumber.flatMap { tls_ciphersuite_t(rawValue: $0) }
    }

    /// The protocol used to resolve the host name. Always unknown.
    public var domainResolutionProtocol: URLSessionTaskMetrics.DomainResolutionProtocol { .unknown }

    /// Whether the connection used a cellular network. Always false, because this is unknown.
    public var isCellular: Bool { false }

    /// Whether the connection used an expensive network. Always false, because this is unknown.
    public var isExpensive: Bool { false }

    /// Whether the connection used a network in Low Data Mode. Always false, because this is unknown.
    public var isConstrained: Bool { false }

    /// Whether the connection used multiple paths. Always false, because multipath isn't supported.
    public var isMultipath: Bool { false }
}
