#if canImport(FoundationNetworking)
    import AfarTransport
    import Foundation
    import FoundationNetworking

    /// The behavior of `URLSession` in swift-corelibs-foundation.
    enum Platform {
        /// Suspending a running task drops its connection, and resuming sends the request again. If both happen in quick
        /// succession, the process traps. Therefore, tasks are suspended only before they start.
        static let suspendsInFlight = false

        /// A 401 with a challenge completes only if a credential is provided, regardless of the scheme.
        static let stallsAtChallenge = true

        /// A redirect is reported when its response is complete. If the delegate refuses the redirect, the task ends immediately. If the
        /// task is canceled before the delegate's answer, the process traps.
        static let endsAtRefusedRedirect = true

        static let limitations = URLSessionTransport.Limitation.allCases

        /// libcurl sends its own Accept-Encoding. Every build of libcurl decodes these two codings, and many builds decode more.
        static let capabilities = TransportCapabilities(
            name: "URLSession",
            features: [
                .fileUpload, .fileDelivery, .streamedDelivery, .informationalResponses, .protocolClasses,
                .proxies,
            ],
            contentCodings: ["gzip", "deflate"]
        )

        /// The maximum size of a file in bytes. Files are read into memory.
        private static let largestFile = 256 << 20

        /// Replaces a body in a file with the file's contents in memory. Otherwise, the process would trap if an upload from a file
        /// is canceled, times out, or is reset by the server.
        static func sendable(_ exchange: Exchange) throws(TransportError) -> Exchange {
            guard case .file(let file) = exchange.body else { return exchange }
            func refusal(_ code: TransportError.Code, _ message: String, _ cause: (any Error)? = nil) -> TransportError
            {
                TransportError(code, phase: .queued, url: exchange.url, message: message, underlying: cause)
            }
            guard exchange.body.length ?? 0 <= largestFile else {
                throw refusal(
                    .unsupportedByTransport,
                    "URLSession can't upload files of more than 256 MiB on Linux. Use HTTPTransport or CurlTransport")
            }
            var exchange = exchange
            do {
                exchange.body = .data(try Data(contentsOf: file))
            } catch {
                throw refusal(.requestBodyFailed, "\(file.path) could not be read", error)
            }
            return exchange
        }

        /// Returns the code for an error message. Foundation maps only a few of libcurl's codes, but always passes libcurl's
        /// message.
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
