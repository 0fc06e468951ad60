import Afar
import ArgumentParser

/// The transports that a person can choose between.
enum TransportChoice: String, CaseIterable, ExpressibleByArgument {
    #if canImport(AfarCurl)
        case curl
    #endif
    case urlsession

    /// The one that `Session` takes by itself.
    static var standard: TransportChoice { allCases.first ?? .urlsession }

    /// Whether it is libcurl, of which only Afar knows the settings.
    var isOnLibcurl: Bool {
        switch self {
        #if canImport(AfarCurl)
            case .curl: true
        #endif
        case .urlsession: false
        }
    }

    func makeTransport(for configuration: SessionConfiguration) -> any Transport {
        switch self {
        #if canImport(AfarCurl)
            case .curl: CurlTransport(configuration: .init(configuration))
        #endif
        case .urlsession: URLSessionTransport()
        }
    }
}
