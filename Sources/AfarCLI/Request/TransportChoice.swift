import Afar
import ArgumentParser

/// The transports that a person can choose between.
enum TransportChoice: String, CaseIterable, ExpressibleByArgument {
    #if canImport(AfarCurl)
        /// Afar's own engine, and libcurl for HTTP/2, HTTP/3, Negotiate and NTLM.
        case afar
        case curl
    #endif
    case urlsession

    /// The transport that a session uses by default.
    static var standard: TransportChoice { allCases.first ?? .urlsession }

    /// Whether proxies from the environment are passed to the transport, which doesn't read them itself.
    var readsNetworkSettings: Bool { self != .urlsession }

    /// The file for TLS keys that `SSLKEYLOGFILE` names, for the transport that doesn't read the variable itself.
    var keyLogFile: URL? {
        #if canImport(AfarCurl)
            let path = ProcessInfo.processInfo.environment["SSLKEYLOGFILE"] ?? ""
            return self == .afar && !path.isEmpty ? URL(filePath: path) : nil
        #else
            return nil
        #endif
    }

    func makeTransport(for configuration: SessionConfiguration) -> any Transport {
        switch self {
        #if canImport(AfarCurl)
            case .afar:
                FirstCapableTransport([
                    HTTPTransport(configuration: .init(configuration)),
                    CurlTransport(configuration: .init(configuration)),
                ])
            case .curl: CurlTransport(configuration: .init(configuration))
        #endif
        case .urlsession: URLSessionTransport()
        }
    }
}
