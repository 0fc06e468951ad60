import AfarTransport
import Testing

/// Which requests stay on this machine.
struct NetworkSettingsTests {
    @Test(arguments: [
        "localhost", "LocalHost:8080", "localhost.", "api.localhost", "127.0.0.1", "127.8.8.8:1", "[::1]", "[::1]:80",
    ])
    func namesOfThisMachine(_ authority: String) {
        #expect(NetworkSettings().staysOnThisMachine(scheme: "http", authority: authority))
        #expect(NetworkSettings().staysOnThisMachine(scheme: "https", authority: authority))
    }

    @Test(arguments: [
        "", "localhost.example.com", "notlocalhost", "127.example.com", "127.0.0.1.example.com", "127.0.0",
        "127.0.0.1.1",
        "127.0.0.256", "127.0.0.-1", "127.0.0.+1", "1270.0.0.1", "128.0.0.1", "10.127.0.1", "0.0.0.0", "[::2]", "[::1",
        "[::1]x",
        "[::10]", "localhost:a@example.com", "localhost@example.com", "[::1]:a@example.com",
    ])
    func otherNames(_ authority: String) {
        #expect(!NetworkSettings().staysOnThisMachine(scheme: "http", authority: authority))
    }

    @Test func connectionsToOtherHosts() {
        func stays(_ entries: [String: String], _ scheme: String, _ authority: String) -> Bool {
            var settings = NetworkSettings()
            settings.connectTo = entries
            return settings.staysOnThisMachine(scheme: scheme, authority: authority)
        }
        #expect(!stays(["localhost:80": "example.com:80"], "http", "localhost"))
        #expect(!stays(["localhost:443": "10.0.0.1:443"], "https", "localhost"))
        #expect(stays(["localhost:443": "10.0.0.1:443"], "http", "localhost"))
        #expect(!stays([":": "10.0.0.1:"], "http", "127.0.0.1:8080"))
        #expect(!stays(["[::1]:80": "[2001:db8::1]:80"], "http", "[::1]"))
        #expect(stays(["localhost:80": "127.0.0.1:8080"], "http", "localhost"))
        #expect(stays(["localhost:80": "[::1]:8080"], "http", "localhost:80"))
        #expect(stays(["localhost:80": ":8080"], "http", "localhost"))
        // A name that isn't of this machine can have an address that servers trust for other reasons.
        #expect(!stays(["example.com:80": "127.0.0.1:80"], "http", "example.com"))
        // An invalid setting fails the request.
        #expect(!stays(["localhost": "x"], "http", "localhost"))
    }

    @Test func proxies() throws {
        var settings = NetworkSettings()
        settings.proxies = ProxySettings(try Proxy("http://proxy.example:3128"))
        #expect(!settings.staysOnThisMachine(scheme: "http", authority: "localhost"))
        settings.proxies.exclusions = ["localhost"]
        #expect(settings.staysOnThisMachine(scheme: "http", authority: "localhost"))
        #expect(!settings.staysOnThisMachine(scheme: "http", authority: "127.0.0.1"))
        // No proxy is used with a Unix socket.
        settings.unixSocket = "/tmp/socket"
        #expect(settings.staysOnThisMachine(scheme: "http", authority: "127.0.0.1"))
    }
}
