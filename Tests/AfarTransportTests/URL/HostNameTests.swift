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
    func aWrittenHostIsTheOneThatIsAsked(host: String, name: String) {
        #expect(HostName(host).text == name)
    }
}
