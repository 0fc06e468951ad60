import AfarTransport
import HTTPTypes
import Testing

@testable import AfarCurl

@Suite struct CurlPoolsTests {
    private let configuration = CurlTransport.Configuration()

    @Test func poolsBelongToTheirSecurity() throws {
        var pools = CurlPools(
            poller: try Poller(set: EpollSet()), configuration: configuration, tls: configuration.makeTLSSettings())
        let (a, b) = (
            ConnectionSecurity(identity: nil, evaluation: { _, _ in }),
            ConnectionSecurity(identity: nil, evaluation: { _, _ in })
        )
        let made = [nil, a, b, a, nil].map { pools.pool(for: $0) }
        #expect(Set(made.compactMap { $0.map { ObjectIdentifier($0) } }).count == 3)
        #expect(made[0] === made[4] && made[1] === made[3])
        pools.closeAll()
    }

    @Test func poolsBelongToTheirPolicy() throws {
        final class Open: ConnectionPolicy {
            func decide(on candidate: ConnectionCandidate) -> ConnectionDecision { .allow }
        }
        var pools = CurlPools(
            poller: try Poller(set: EpollSet()), configuration: configuration, tls: configuration.makeTLSSettings())
        func options(_ policy: Open?) -> ExchangeOptions {
            var options = ExchangeOptions()
            options.connectionPolicy = policy
            return options
        }
        let (one, other) = (options(Open()), options(Open()))
        let made = [options(nil), one, other, one, options(nil)].map {
            pools.pool(for: nil, under: ConnectionGuard($0))
        }
        #expect(Set(made.compactMap { $0.map { ObjectIdentifier($0) } }).count == 3)
        #expect(made[0] === made[4] && made[1] === made[3])
        pools.closeAll()
    }

    @Test func poolsBelongToTheirResolver() throws {
        final class Empty: HostResolver {
            func addresses(of host: String) async throws -> ResolvedAddresses { ResolvedAddresses([]) }
        }
        var pools = CurlPools(
            poller: try Poller(set: EpollSet()), configuration: configuration, tls: configuration.makeTLSSettings())
        let (one, other) = (Empty(), Empty())
        let made = try [nil, one, other, one, nil].map { resolver in
            var exchange = Exchange(request: HTTPRequest(method: .get, scheme: "http", authority: "h", path: "/"))
            exchange.options.resolver = resolver
            let route = try ConnectionRoute(Hop(exchange), isSecure: false, authority: "h")
            return pools.pool(for: nil, over: route?.identity)
        }
        #expect(Set(made.compactMap { $0.map { ObjectIdentifier($0) } }).count == 3)
        #expect(made[0] === made[4] && made[1] === made[3])
        pools.closeAll()
    }

    @Test func poolsBelongToTheirInterfaceAndVersion() throws {
        var pools = CurlPools(
            poller: try Poller(set: EpollSet()), configuration: configuration, tls: configuration.makeTLSSettings())
        let security = ConnectionSecurity(identity: nil, evaluation: { _, _ in })
        var exchange = Exchange(request: HTTPRequest(method: .get, scheme: "http", authority: "h", path: "/"))
        exchange.options.network.interface = "lo"
        let hop = Hop(exchange)
        let route = try ConnectionRoute(hop, isSecure: false, authority: "h")?.identity
        #expect(route != nil)
        let made = [
            pools.pool(for: nil), pools.pool(for: nil, over: route),
            pools.pool(for: nil, isSeparateHTTP1: true),
            pools.pool(for: security, over: route),
        ]
        #expect(Set(made.compactMap { $0.map { ObjectIdentifier($0) } }).count == 4)
        let again = pools.pool(for: nil, over: route)
        #expect(again === made[1])
        pools.retire(running: [], at: 1)
        pools.closeRetired()
        #expect(Array(pools.all).isEmpty)
    }

    /// Each pool uses descriptors, so pools for unreachable hosts must not accumulate.
    @Test func thePoolOfAHostThatNeverAnsweredIsClosed() throws {
        var pools = CurlPools(
            poller: try Poller(set: EpollSet()), configuration: configuration, tls: configuration.makeTLSSettings())
        _ = pools.pool(for: nil)
        for _ in 0..<10 {
            let security = ConnectionSecurity(identity: nil, evaluation: { _, _ in })
            let made = pools.pool(for: security)
            let pool = try #require(made)
            let handle = try #require(pool.makeHandle())
            pool.release(handle)
            pools.transferEnded(in: pool, at: 1)
        }
        #expect(Array(pools.all).count == 11 && pools.nextSweep < .max)
        pools.sweep(at: pools.nextSweep)
        #expect(Array(pools.all).count == 1)
        pools.closeAll()
    }
}
