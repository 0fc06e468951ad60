public import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension RetryPolicy {
    /// How often a request is retried at most: twice.
    public static let defaultRetryLimit: UInt = 2

    /// The factor by which each delay is longer than the one before: 2.
    public static let defaultExponentialBackoffBase: UInt = 2

    /// The first delay: half a second.
    public static let defaultExponentialBackoffScale = 0.5

    /// The methods whose effect is the same however often a request is sent (RFC 9110, section 9.2.2).
    public static let defaultRetryableHTTPMethods: Set<HTTPMethod> = [.delete, .get, .head, .options, .put, .trace]

    /// The status codes of transient failures (RFC 9110, sections 15.5.9 and 15.6): 408, 500, 502, 503, 504.
    public static let defaultRetryableHTTPStatusCodes: Set<Int> = [408, 500, 502, 503, 504]

    /// The network errors that may be transient: those of look-ups, connections, time and the mobile network, a
    /// certificate's dates, and broken answers.
    public static let defaultRetryableURLErrorCodes: Set<URLError.Code> = [
        .backgroundSessionInUseByAnotherProcess, .backgroundSessionWasDisconnected,
        .badServerResponse,
        .callIsActive, .dataNotAllowed, .internationalRoamingOff,
        .cannotConnectToHost, .cannotFindHost, .dnsLookupFailed,
        .cannotLoadFromNetwork,
        .downloadDecodingFailedMidStream, .downloadDecodingFailedToComplete,
        .networkConnectionLost, .notConnectedToInternet,
        .secureConnectionFailed, .serverCertificateHasBadDate, .serverCertificateNotYetValid,
        .timedOut,
    ]
}
