#if !canImport(FoundationNetworking)
    import AfarTransport
    import Foundation

    /// The behavior of `URLSession` on Apple platforms.
    enum Platform {
        static let suspendsInFlight = true
        static let stallsAtChallenge = false
        static let endsAtRefusedRedirect = false
        static let limitations = URLSessionTransport.Limitation.everywhere

        static let capabilities = TransportCapabilities(
            name: "URLSession",
            features: [
                .fileUpload, .fileDelivery, .streamedDelivery, .backpressure, .suspension, .metrics,
                .protocolClasses, .proxies,
            ],
            contentCodings: ["br", "gzip", "deflate"]
        )

        static func sendable(_ exchange: Exchange) -> Exchange { exchange }

        /// Always nil, because the error codes are sufficient.
        static func code(ofMessage message: String) -> TransportError.Code? { nil }
    }

    extension ExchangeDelegate {
        func urlSession(
            _ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics
        ) {
            self[task]?.didCollect(metrics.transactionMetrics.map(TransactionMetrics.init))
        }
    }

    extension TransactionMetrics {
        init(_ metrics: URLSessionTaskTransactionMetrics) {
            self.init()
            fetchStartDate = metrics.fetchStartDate
            domainLookupStartDate = metrics.domainLookupStartDate
            domainLookupEndDate = metrics.domainLookupEndDate
            connectStartDate = metrics.connectStartDate
            secureConnectionStartDate = metrics.secureConnectionStartDate
            secureConnectionEndDate = metrics.secureConnectionEndDate
            connectEndDate = metrics.connectEndDate
            requestStartDate = metrics.requestStartDate
            requestEndDate = metrics.requestEndDate
            responseStartDate = metrics.responseStartDate
            responseEndDate = metrics.responseEndDate
            networkProtocolName = metrics.networkProtocolName
            isReusedConnection = metrics.isReusedConnection
            isProxyConnection = metrics.isProxyConnection
            localAddress = metrics.localAddress
            localPort = metrics.localPort
            remoteAddress = metrics.remoteAddress
            remotePort = metrics.remotePort
            countOfRequestHeaderBytesSent = metrics.countOfRequestHeaderBytesSent
            countOfRequestBodyBytesSent = metrics.countOfRequestBodyBytesSent
            countOfRequestBodyBytesBeforeEncoding = metrics.countOfRequestBodyBytesBeforeEncoding
            tlsProtocolNumber = metrics.negotiatedTLSProtocolVersion?.rawValue
            tlsCipherSuiteNumber = metrics.negotiatedTLSCipherSuite?.rawValue
            countOfResponseHeaderBytesReceived = metrics.countOfResponseHeaderBytesReceived
            countOfResponseBodyBytesReceived = metrics.countOfResponseBodyBytesReceived
            countOfResponseBodyBytesAfterDecoding = metrics.countOfResponseBodyBytesAfterDecoding
        }
    }
#endif
