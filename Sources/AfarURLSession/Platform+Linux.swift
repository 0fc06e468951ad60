#if canImport(FoundationNetworking)
    import AfarTransport
    import Foundation
    import FoundationNetworking

    /// How `URLSession` behaves here: swift-corelibs-foundation.
    enum Platform {
        /// Suspending a running task drops its connection, and resuming sends the request again; done quickly one
        /// after the other they trap. So a task is only ever held before it starts.
        static let suspendsInFlight = false

        /// A 401 with a challenge never completes on its own, whatever the scheme, unless a credential follows.
        static let stallsAtChallenge = true

        /// A redirect is reported when all of its response has arrived; refused, the task ends at once. Cancelling it
        /// on the way there traps.
        static let endsAtRefusedRedirect = true

        static let limitations = URLSessionTransport.Limitation.allCases

        /// libcurl's own Accept-Encoding is sent; these two are what every libcurl decodes, and many more do.
        static let capabilities = TransportCapabilities(
            name: "URLSession",
            features: [
                .fileUpload, .fileDelivery, .streamedDelivery, .informationalResponses, .protocolClasses,
                .proxies,
            ],
            contentCodings: ["gzip", "deflate"]
        )

        /// Of larger files one would not want to have all in memory.
        private static let largestFile = 256 << 20

        /// An exchange whose body does not come from a file: while it does, a cancel, a timeout or a server's reset traps.
        static func sendable(_ exchange: Exchange) throws(TransportError) -> Exchange {
            guard case .file(let file) = exchange.body else { return exchange }
            func refusal(_ code: TransportError.Code, _ message: String, _ cause: (any Error)? = nil) -> TransportError
            {
                TransportError(code, phase: .queued, url: exchange.url, message: message, underlying: cause)
            }
            guard exchange.body.length ?? 0 <= largestFile else {
                throw refusal(
                    .unsupportedByTransport,
                    "URLSession is given no files of more than 256 MiB on Linux. CurlTransport sends files of any size")
            }
            var exchange = exchange
            do {
                exchange.body = .data(try Data(contentsOf: file))
            } catch {
                throw refusal(.requestBodyFailed, "\(file.path) could not be read", error)
            }
            return exchange
        }

        /// What an error without a telling code means, by its message: Foundation knows a few of libcurl's codes and
        /// passes libcurl's words for all of them.
        static func code(ofMessage message: String) -> TransportError.Code? {
            meanings.first { message.contains($0.words) }?.code
        }

        private static let meanings: [(words: String, code: TransportError.Code)] = [
            ("transfer closed", .bodyIncomplete),
            ("bytes missing", .bodyIncomplete),
            ("Recv failure", .connectionLost),
            ("content unencoding", .undecodableContent),
            ("content encoding type", .undecodableContent),
            ("self-signed certificate", .certificateHasUnknownRoot),
            ("local issuer certificate", .certificateHasUnknownRoot),
            ("certificate has expired", .certificateHasBadDate),
            ("certificate is not yet valid", .certificateNotYetValid),
            ("certificate", .certificateUntrusted),
            ("SSL", .secureConnectionFailed),
            ("Too large response headers", .headTooLarge),
            ("chunk", .malformedResponse),
            ("Header without colon", .malformedResponse),
            ("Failed writing header", .malformedResponse),
            ("Invalid Content-Length", .malformedResponse),
            ("HTTP/0.9", .malformedResponse),
            ("response code", .malformedResponse),
        ]
    }
#endif
