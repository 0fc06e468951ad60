import AfarTransport
import Foundation
import Testing

@Suite struct ProxySettingsTests {
    private let proxy = "http://p:1"

    private func chosen(
        _ environment: [String: String], scheme: String = "http", for authority: String = "a.example"
    ) throws -> String? {
        try ProxySettings(environment: environment).proxy(scheme: scheme, authority: authority)?.description
    }

    @Test func theEnvironmentIsReadAsByCurl() throws {
        #expect(try chosen([:]) == nil)
        #expect(try chosen(["http_proxy": "p:1"]) == "http://p:1")
        #expect(try chosen(["HTTP_PROXY": "p:1"]) == nil)
        #expect(try chosen(["HTTPS_PROXY": "p:1"], scheme: "https") == "http://p:1")
        #expect(try chosen(["HTTPS_PROXY": "p:1", "https_proxy": "q:2"], scheme: "https") == "http://q:2")
        #expect(try chosen(["HTTPS_PROXY": "p:1", "https_proxy": ""], scheme: "https") == "http://p:1")
        #expect(try chosen(["http_proxy": "", "all_proxy": "", "ALL_PROXY": "p:1"]) == "http://p:1")
        #expect(try chosen(["http_proxy": "", "all_proxy": ""]) == nil)
        #expect(try chosen(["http_proxy": "p:1", "no_proxy": "", "NO_PROXY": "a.example"]) == nil)
        #expect(try chosen(["https_proxy": "p:1"]) == nil)
        #expect(try chosen(["ALL_PROXY": "socks5h://p"], scheme: "https") == "socks5h://p:1080")
        #expect(try chosen(["all_proxy": "socks5://p", "http_proxy": "q:1"]) == "http://q:1")
        #expect(try chosen(["http_proxy": "p:1", "NO_PROXY": "a.example"]) == nil)
        #expect(try chosen(["http_proxy": "p:1", "NO_PROXY": "a.example", "no_proxy": "b"]) == "http://p:1")
    }

    @Test func exclusions() throws {
        let excluded: [(String, String)] = [
            ("*", "anything"), ("example.com", "example.com"), ("example.com", "www.EXAMPLE.com:8080"),
            (".example.com", "example.com"), (".example.com", "a.b.example.com"), ("*.example.com", "a.example.com"),
            ("a.example, b.example", "b.example."), ("x b.example", "b.example"), ("localhost", "LOCALHOST:80"),
            ("example.com:8080", "example.com:8080"), ("example.com:80", "example.com"), ("10.0.0.1", "10.0.0.1:80"),
            ("10.0.0.0/8", "10.200.3.4"), ("192.168.4.0/22", "192.168.7.255"), ("::1", "[::1]:8080"),
            ("[::1]", "[::1]"),
            ("fe80::/10", "[febf::1]"), ("0.0.0.0/0", "9.9.9.9"), ("bücher.example", "xn--bcher-kva.example"),
        ]
        for (list, authority) in excluded {
            #expect(
                try chosen(["http_proxy": proxy, "no_proxy": list], for: authority) == nil, "\(list): \(authority)")
        }
        let covered: [(String, String)] = [
            ("", "a"), ("example.com", "badexample.com"), ("example.com", "example.com.evil"),
            ("example.com:81", "example.com"),
            ("10.0.0.0/8", "11.0.0.1"), ("192.168.4.0/22", "192.168.8.0"), ("10.0.0.0/8", "10.example"),
            ("10.0.0.1", "10.0.0.10"),
            ("10.0.0.0/33", "10.0.0.0"), ("fe80::/10", "[fec0::1]"), ("0.0.0.0/0", "[::1]"), (".", "a"), ("a.*", "a.b"),
            ("1", "127.0.0.1"),
        ]
        for (list, authority) in covered {
            #expect(
                try chosen(["http_proxy": proxy, "no_proxy": list], for: authority) == proxy, "\(list): \(authority)")
        }
    }

    @Test func proxiesAreRead() throws {
        let full = try Proxy("HTTPS://ann%40x:s%3Acret@Proxy.Example:8443/path")
        #expect(full.kind == .https && full.host == "proxy.example" && full.port == 8443)
        #expect(full.credential == .init(user: "ann@x", password: "s:cret"))
        #expect(try Proxy("[::1]:3128").host == "::1")
        #expect(try Proxy(host: "::1").description == "http://[::1]:80")
        #expect(try Proxy(.socks5, host: "p", credential: .init(user: "a", password: "b")).port == 1080)
        #expect("\(full) \(full.credential as Any)".contains("cret") == false)
        var dumped = ""
        dump(full, to: &dumped)
        #expect(!dumped.contains("cret") && !dumped.contains("ann"))
    }

    @Test(arguments: [
        "", "http://", "ftp://p", "p:0", "p:70000", "p:x", "socks4://p", "http://a b", "http://p@q@r", "\u{1}",
        "http://a%3Ab:c@p",
        "http://a%0Ab@p",
    ])
    func invalidProxiesAreRejected(_ text: String) {
        #expect(throws: InvalidProxy.self) { try Proxy(text) }
    }

    @Test(arguments: [
        "zoe:secret@p://x", "secret://p", "zoe:secret://@p:1", "http://zoe:se/cret@p", "http://zoe:secret@p:x",
        "http://zoe:secret@p q", "zoe:secret", "http://zoe:secret@@p", "zoe:secret@127.1",
        "http://zoe%3A:secret@p", "http://zoe:secret%0A@p",
    ])
    func invalidProxiesAreReportedWithoutTheirText(_ text: String) {
        #expect {
            try Proxy(text)
        } throws: { error in
            let text = "\(error) \(error.localizedDescription)"
            return error is InvalidProxy && !text.contains("zoe") && !text.contains("cret")
        }
    }

    @Test func anInvalidProxyIsReportedWithoutItsSecret() throws {
        let settings = ProxySettings(environment: ["http_proxy": "x://ann:secret@p", "no_proxy": "b"])
        #expect(throws: InvalidProxy.self) { try settings.proxy(scheme: "http", authority: "a") }
        #expect(try settings.proxy(scheme: "http", authority: "b") == nil)
        do { _ = try settings.proxy(scheme: "http", authority: "a") } catch {
            #expect(error.description.contains("http_proxy") && !error.description.contains("secret"))
        }
        #expect(!"\(settings)".contains("secret"))
    }
}
