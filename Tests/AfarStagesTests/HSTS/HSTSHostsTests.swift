import Foundation
import Testing

@testable import AfarStages

/// RFC 6797, sections 8.1 and 8.2.
struct HSTSHostsTests {
    private func hosts(_ name: String, all includesSubdomains: Bool = false, for age: TimeInterval = 10) throws
        -> HSTSHosts
    {
        var hosts = HSTSHosts()
        hosts.store(
            try #require(HSTSHost(name: name, includesSubdomains: includesSubdomains, expires: .start + age)),
            now: .start)
        return hosts
    }

    @Test func aHostAppliesToItself() throws {
        let hosts = try hosts("Example.com")
        #expect(hosts.contains("example.com", now: .start))
        #expect(hosts.contains("example.com.", now: .start))
        for name in ["a.example.com", "com", "badexample.com"] { #expect(!hosts.contains(name, now: .start)) }
    }

    @Test func aHostCanIncludeSubdomains() throws {
        let hosts = try hosts("example.com", all: true)
        for name in ["example.com", "a.b.example.com"] { #expect(hosts.contains(name, now: .start)) }
        for name in ["com", "badexample.com", "1.2.3.4"] { #expect(!hosts.contains(name, now: .start)) }
    }

    @Test func aHostExpiresAtItsTime() throws {
        let hosts = try hosts("example.com")
        #expect(hosts.contains("example.com", now: .start + 9))
        #expect(!hosts.contains("example.com", now: .start + 10))
        #expect(hosts.all(now: .start + 10).isEmpty)
    }

    @Test func newValuesReplaceStoredOnes() throws {
        var hosts = try hosts("example.com", all: true)
        hosts.store(try #require(HSTSHost(name: "example.com", expires: .start + 10)), now: .start)
        #expect(!hosts.contains("a.example.com", now: .start))
        hosts.store(try #require(HSTSHost(name: "example.com", expires: .distantPast)), now: .start)
        #expect(hosts.isEmpty)
    }

    @Test func addressesAreRejected() {
        for name in ["127.0.0.1", "[::1]", "", "a b"] { #expect(HSTSHost(name: name) == nil) }
    }

    @Test func theNumberOfHostsIsLimited() throws {
        var hosts = HSTSHosts()
        for number in 0..<(HSTSHosts.limit + 100) {
            let host = try #require(HSTSHost(name: "h\(number).test", expires: .start + TimeInterval(number + 1)))
            hosts.store(host, now: .start)
        }
        let count = hosts.all(now: .start).count
        #expect(count <= HSTSHosts.limit && count > HSTSHosts.limit * 9 / 10)
        #expect(!hosts.contains("h0.test", now: .start))
    }

    @Test func oneSiteCannotEvictOthers() throws {
        var hosts = HSTSHosts()
        for number in 0..<1_000 {
            hosts.store(try #require(HSTSHost(name: "h\(number).test", expires: .start + 1_000)), now: .start)
        }
        for number in 0..<HSTSHosts.limit {
            hosts.store(try #require(HSTSHost(name: "h\(number).evil.test", expires: .distantFuture)), now: .start)
        }
        #expect((0..<1_000).allSatisfy { hosts.contains("h\($0).test", now: .start) })
    }
}
