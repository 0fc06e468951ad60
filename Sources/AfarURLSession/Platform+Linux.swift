#if canImport(FoundationNetworking)
    import AfarCore
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
            features: [.fileUpload, .fileDelivery, .streamedDelivery, .informationalResponses, .protocolClasses],
            contentCodings: ["gzip", "deflate"]
        )

        /// What an error without a telling code means, by its message: Foundation knows a few of libcurl's codes and
        /// passes libcurl's words for all of them.
        static func code(ofMessage message: String) -> TransportError.Code? {
            meanings.first { message.contains($0.words) }?.code
        }

        private static let meanings: [(words: String, code: TransportError.Code)] = [
            ("transfer closed", .bodyIncomplete),
            ("content unencoding", .undecodableContent),
            ("content encoding type", .undecodableContent),
            ("self-signed certificate", .certificateHasUnknownRoot),
            ("local issuer certificate", .certificateHasUnknownRoot),
            ("certificate has expired", .certificateHasBadDate),
            ("certificate is not yet valid", .certificateNotYetValid),
            ("certificate", .certificateUntrusted),
            ("SSL", .secureConnectionFailed),
            ("Too large response headers", .headTooLarge),
            ("chunked-encoding", .malformedResponse),
            ("Header without colon", .malformedResponse),
            ("Failed writing header", .malformedResponse),
            ("Invalid Content-Length", .malformedResponse),
            ("HTTP/0.9", .malformedResponse),
            ("response code", .malformedResponse),
        ]
    }
#endif
