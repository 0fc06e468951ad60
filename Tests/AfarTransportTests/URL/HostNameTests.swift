import AfarTransport
import Testing

@Suite struct HostNameTests {
    @Test(arguments: [
        ("example.com", "example.com"), ("EXAMPLE.com:8443", "example.com"), ("example.com.", "example.com"),
        ("127.0.0.1:80", "127.0.0.1"), ("[::1]:443", "::1"), ("[2001:DB8::1]", "2001:db8::1"), ("", ""), (":80", ""),
    ])
    func anAuthorityHasOneSpelling(authority: String, name: String) {
        #expect(HostName(ofAuthority: authority).text == name)
    }

    @Test(arguments: [
        ("Example.COM", "example.com"), ("example.com.", "example.com"), ("::1", "::1"), ("[::1]", "::1"),
        ("example.com:8443", "example.com"), ("[::1]:443", "::1"), ("2001:db8::1", "2001:db8::1"),
    ])
    func aHostIsNormalized(host: String, name: String) {
        #expect(HostName(host).text == name)
    }

    @Test(arguments: [
        ("[fe80::1%25eth0]:80", "[fe80::1]:80", "%eth0"), ("fe80::1%Eth0", "fe80::1", "%Eth0"), ("[::1]", "[::1]", ""),
        ("a]%25b", "a]%25b", ""), ("]%x", "]%x", ""), ("a.example%25.b.example:80", "a.example%25.b.example:80", ""),
        ("[fe80::1]%25a", "[fe80::1]%25a", ""), ("%", "%", ""), ("", "", ""), ("::%", "::", "%"),
    ])
    func onlyAddressesHaveZones(host: String, without: String, zone: String) {
        #expect(host.withoutZone == without)
        #expect(host.zone == zone)
    }
}
