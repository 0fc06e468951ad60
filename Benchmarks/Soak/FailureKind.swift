import Afar
import AfarTestServer
import Foundation
import Servers

/// A way for a request to fail.
enum FailureKind: CaseIterable {
    case invalidURL
    case unresolvableHost
    case refusedConnection
    case noTLS
    case untrustedCertificate
    case closedBeforeTheHead
    case malformedHead
    case headTooLarge
    case closedWithinTheBody
    case bodyTooLarge
    case idleTimeout
    case status500
    case notDecodable

    /// A host name that the resolver rejects without a query, because its first label is too long. Real queries would
    /// overload a name server and take unpredictably long.
    private static let longHost = String(repeating: "x", count: 64) + ".invalid"

    /// Creates a request that fails in this way.
    func request(on stage: Stage) -> DataRequest {
        let session = stage.strictSession
        return switch self {
        case .invalidURL: session.request("http://[no-address/")
        case .unresolvableHost: session.request("http://\(Self.longHost)/")
        case .refusedConnection: session.request(stage.closedPort.url)
        case .noTLS: session.request("https://127.0.0.1:\(stage.nginx.port)/")
        case .untrustedCertificate: session.request("https://127.0.0.1:\(stage.tlsPort)/")
        case .closedBeforeTheHead: session.request(stage.scripts.url(.closesBeforeTheHead))
        case .malformedHead: session.request(stage.scripts.url(.sendsMalformedHead))
        case .headTooLarge: session.request(stage.scripts.url(.sendsLargeHead))
        case .closedWithinTheBody: session.request(stage.scripts.url(.closesWithinTheBody))
        case .bodyTooLarge: session.request(stage.url("/large"))
        case .idleTimeout:
            session.request(stage.scripts.url(.keepsSilent)) { $0.timeoutInterval = 0.05 }
        case .status500: session.request(stage.url("/500")).validate()
        case .notDecodable: session.request(stage.url("/text")).validate()
        }
    }

    /// Returns whether this is the error that such a request must fail with.
    func isExpected(_ error: AFError) -> Bool {
        switch (self, error) {
        case (.invalidURL, .invalidURL): true
        case (.status500, .responseValidationFailed(.unacceptableStatusCode(500))): true
        case (.notDecodable, .responseSerializationFailed(.decodingFailed)): true
        case (_, .sessionTaskFailed(let error as URLError)):
            transportCode != nil
                && (error.userInfo[NSUnderlyingErrorKey] as? TransportError)?.code == transportCode
        default: false
        }
    }

    private var transportCode: TransportError.Code? {
        switch self {
        case .invalidURL, .status500, .notDecodable: nil
        case .unresolvableHost: .cannotFindHost
        case .refusedConnection: .cannotConnect
        case .noTLS: .secureConnectionFailed
        case .untrustedCertificate: .certificateHasUnknownRoot
        case .closedBeforeTheHead: .connectionLost
        case .malformedHead: .malformedResponse
        case .headTooLarge: .headTooLarge
        case .closedWithinTheBody: .bodyIncomplete
        case .bodyTooLarge: .responseTooLarge
        case .idleTimeout: .timedOut
        }
    }
}
