import Afar
import AfarCore
import AfarTestServer
import AfarTransport
import Foundation
import Testing

/// The transports for all integration tests.
enum TransportKind: String, CaseIterable, CustomTestStringConvertible {
    /// The default transport.
    case platform
    case urlSession

    var testDescription: String { rawValue }

    /// Returns the reason why this transport doesn't support the given features, or `nil` if it does.
    func reasonAgainst(_ needs: TransportCapabilities.Features) -> String? {
        let missing = needs.subtracting(make(.default).capabilities.features)
        return missing.isEmpty ? nil : "\(rawValue) has no \(missing.names.joined(separator: ", "))"
    }

    static func all(with needs: TransportCapabilities.Features) -> [TransportKind] {
        allCases.filter { $0.reasonAgainst(needs) == nil }
    }

    func make(_ configuration: SessionConfiguration) -> any Transport {
        switch self {
        case .platform:
            FirstCapableTransport([
                HTTPTransport(configuration: .init(configuration)), CurlTransport(configuration: .init(configuration)),
            ])
        case .urlSession: URLSessionTransport()
        }
    }

    /// Whether the transport supports metrics.
    var measures: Bool { reasonAgainst(.metrics) == nil }

    func session(
        interceptor: (any RequestInterceptor)? = nil, _ configure: (inout SessionConfiguration) -> Void = { _ in }
    ) -> Session {
        var configuration = SessionConfiguration.default
        configure(&configuration)
        return Session(configuration: configuration, interceptor: interceptor, transport: make(configuration))
    }
}
