import Testing

@testable import AfarCore

struct SecretsTests {
    private let hidden = Secrets(areShown: false)
    private let shown = Secrets(areShown: true)

    @Test(arguments: [
        ("Authorization", "Bearer abc", "Bearer ***"), ("authorization", "basic YTpi", "basic ***"),
        ("Authorization", "my own words", "***"), ("Authorization", "Bearer", "***"),
        ("Proxy-Authorization", "Digest username=\"x\"", "Digest ***"),
        ("Cookie", "a=1; b=2", "***"), ("Set-Cookie", "a=1; Path=/", "***"), ("X-API-Key", "k", "***"),
        ("X-Auth-Token", "k", "***"), ("Client-Secret", "k", "***"), ("X-Password", "Basic abc", "Basic ***"),
        ("Accept", "Bearer abc", "Bearer abc"), ("Referer", "http://a:b@x/y", "http://***@x/y"),
        ("WWW-Authenticate", "Basic realm=\"x\"", "Basic realm=\"x\""),
    ])
    func headersThatCarrySecretsAreHidden(name: String, value: String, expected: String) {
        #expect(hidden.value(value, of: name) == expected)
        #expect(shown.value(value, of: name) == value)
    }

    @Test func userinfoIsHidden() {
        #expect(hidden.url("http://ada:pw@x/a@b") == "http://***@x/a@b")
        #expect(hidden.url("http://x/a") == "http://x/a")
        #expect(shown.url("http://ada:pw@x/") == "http://ada:pw@x/")
    }

    @Test(arguments: [
        ("http://x/a?q=1&access_token=abc&b=2#c", "http://x/a?q=1&access_token=***&b=2#c"),
        ("http://x/?api_key=abc", "http://x/?api_key=***"),
        ("http://x/?X-Amz-Signature=abc&token=a=b", "http://x/?X-Amz-Signature=***&token=***"),
        ("http://x/?client_secret=&a=b", "http://x/?client_secret=***&a=b"),
        ("http://x/token=abc?a=b", "http://x/token=abc?a=b"), ("/a?password=ü", "/a?password=***"),
        ("x@y?token=abc", "***@y?token=***"),
        ("http://x/cb#access_token=abc&state=1", "http://x/cb#access_token=***&state=1"),
        ("http://x/?a=b#id_token=abc", "http://x/?a=b#id_token=***"),
    ])
    func parametersThatCarrySecretsAreHidden(url: String, expected: String) {
        #expect(hidden.url(url) == expected)
        #expect(shown.url(url) == url)
    }

    @Test func sentencesAreLeftAlone() {
        let text = "Is http://x/?token=abc right? The password=none, a=b."
        #expect(text.redactingSecrets == "Is http://x/?token=*** right? The password=none, a=b.")
    }
}
