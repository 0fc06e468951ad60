import Afar
import ArgumentParser

/// The versions of HTTP that a person can demand.
enum HTTPVersionChoice: String, CaseIterable, ExpressibleByArgument {
    case one = "1.1"
    case two = "2"
    case three = "3"

    var version: ExchangeOptions.HTTPVersion {
        switch self {
        case .one: .http1
        case .two: .http2
        case .three: .http3
        }
    }

    /// curl's word for it.
    var curlOption: String {
        switch self {
        case .one: "--http1.1"
        case .two: "--http2"
        case .three: "--http3-only"
        }
    }
}
