import Afar
import AfarDNSOverHTTPS
import Foundation

/// The samples about resolvers in Docs/Networking.md and Plugins/README.md.
enum ResolverSamples {
    static func list() throws -> Session {
        var configuration = SessionConfiguration.default
        configuration.resolver = try StaticResolver(["api.example.com": ["192.0.2.1"]], fallback: .system)
        let session = Session(configuration: configuration)
        return session
    }

    final class RegistryResolver: HostResolver {
        let instances: @Sendable (String) async throws -> [String]

        init(_ instances: @escaping @Sendable (String) async throws -> [String]) { self.instances = instances }

        func addresses(of host: String) async throws -> ResolvedAddresses {
            let texts = try await instances(host)
            return ResolvedAddresses(texts.compactMap { SocketAddress($0) }, timeToLive: .seconds(10))
        }
    }

    #if os(Linux)
        static func overHTTPS() throws -> Session {
            let resolver = try DNSOverHTTPSResolver(
                "https://dns.example/dns-query", bootstrap: ["192.0.2.53"], transport: HTTPTransport())
            var configuration = SessionConfiguration.default
            configuration.resolver = CachingResolver(resolver)
            let session = Session(configuration: configuration)
            return session
        }
    #endif
}
