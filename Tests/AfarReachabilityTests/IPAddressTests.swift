import Testing

@testable import AfarReachability

struct IPAddressTests {
    @Test(arguments: [
        ("192.0.2.1", "192.0.2.1"), ("0.0.0.0", "0.0.0.0"), ("255.255.255.255", "255.255.255.255"), ("::", "::"),
        ("2001:DB8:0:0:0:0:0:1", "2001:db8::1"), ("fe80::1%eth0", "fe80::1%eth0"), ("fe80::1%3", "fe80::1%3"),
        ("::ffff:192.0.2.1", "::ffff:192.0.2.1"),
    ])
    func parsedAddressesAreFormatted(text: String, written: String) throws {
        let address = try #require(IPAddress(text))
        #expect(address.description == written)
        #expect(address.family == (text.contains(":") ? .ipv6 : .ipv4))
        #expect(IPAddress(bytes: address.bytes, zone: address.zone) == address)
    }

    @Test(arguments: [
        "", "%", "1", "192.0.2", "192.0.2.256", "192.0.2.1%eth0", "192.0.2.01.1", "2001:db8:::1", "fe80::1%",
        "example.org",
        "[::1]", " ::1", "::1\u{0}",
    ])
    func invalidAddressesAreRejected(text: String) {
        #expect(IPAddress(text) == nil)
    }

    @Test func bytesAreInNetworkOrder() {
        #expect(IPAddress("192.0.2.1")?.bytes == [192, 0, 2, 1])
        #expect(IPAddress("2001:db8::1")?.bytes == [0x20, 1, 0xD, 0xB8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1])
        for count in [0, 3, 5, 15, 17] {
            #expect(IPAddress(bytes: [UInt8](repeating: 1, count: count)) == nil)
        }
    }

    @Test(
        arguments: [
            ("0.0.0.0", .unspecified), ("::", .unspecified), ("127.0.0.1", .loopback), ("127.255.0.1", .loopback),
            ("128.0.0.1", .global), ("::1", .loopback), ("::2", .global), ("::ffff:127.0.0.1", .loopback),
            ("169.254.3.4", .linkLocal), ("fe80::1", .linkLocal), ("febf::1", .linkLocal), ("fec0::1", .global),
            ("10.0.0.1", .privateUse), ("172.16.0.1", .privateUse), ("172.31.255.255", .privateUse),
            ("172.32.0.0", .global),
            ("192.168.1.1", .privateUse), ("100.64.0.1", .privateUse), ("100.128.0.0", .global),
            ("fd00::1", .privateUse),
            ("224.0.0.251", .multicast), ("239.255.255.255", .multicast), ("240.0.0.1", .global),
            ("ff02::1", .multicast),
            ("192.0.2.1", .global), ("2001:db8::1", .global),
        ] as [(String, IPAddress.Scope)])
    func addressesHaveAScope(text: String, scope: IPAddress.Scope) {
        #expect(IPAddress(text)?.scope == scope)
    }

    @Test func prefixesAreCompared() throws {
        let address = try #require(IPAddress("10.1.2.3"))
        let other = try #require(IPAddress("10.1.3.3"))
        #expect(address.matches(other, first: 0) && address.matches(other, first: 23))
        #expect(!address.matches(other, first: 24) && !address.matches(other, first: 32))
        #expect(!address.matches(.unspecified(.ipv6), first: 0))
    }
}
