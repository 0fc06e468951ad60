import AfarTransport
import Testing

@testable import AfarCurl

@Suite struct ResolverLookupsTests {
    private final class Empty: HostResolver {
        func addresses(of host: String) async throws -> ResolvedAddresses { ResolvedAddresses([]) }
    }

    private func entries(
        _ addresses: [String], _ family: NetworkSettings.AddressFamily = .any
    ) throws(Fault) -> [String] {
        let host = LookedUpHost(name: "a.example", port: 81)
        return try ResolverLookups(Empty(), [host], family)
            .entries(for: host, addresses.compactMap { SocketAddress($0) })
    }

    @Test func entriesExpire() throws {
        #expect(
            try entries(["192.0.2.1", "2001:db8::1"]) == [
                "+a.example:81:192.0.2.1,[2001:db8::1]", "+a.example.:81:192.0.2.1,[2001:db8::1]",
            ])
    }

    @Test func onlyAddressesOfTheFamilyAreUsed() throws {
        #expect(try entries(["192.0.2.1", "2001:db8::1"], .ipv6).first == "+a.example:81:[2001:db8::1]")
        let fault = #expect(throws: Fault.self) { _ = try entries(["192.0.2.1"], .ipv6) }
        #expect(fault?.code == .cannotFindHost && fault?.message.contains("IPv6") == true)
    }

    /// libcurl can't parse a zone here, and would refuse the whole list.
    @Test func addressesWithAZoneAreLeftOut() throws {
        #expect(try entries(["fe80::1%lo", "192.0.2.1"]).first == "+a.example:81:192.0.2.1")
        let fault = #expect(throws: Fault.self) { _ = try entries(["fe80::1%lo"]) }
        #expect(fault?.code == .cannotFindHost && fault?.message.contains("zone") == true)
    }

    @Test func addressesAreRecognized() {
        let named = LookedUpHost(name: "a.example", port: 80)
        let numeric = LookedUpHost(name: "192.0.2.1", port: 80)
        let lookups = ResolverLookups(Empty(), [numeric, named], .any)
        #expect(lookups.isAddress(isConnected: false) && !lookups.isAddress(isConnected: true))
    }
}
