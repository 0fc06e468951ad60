import Foundation
import Testing

@testable import AfarTransport

struct RedactionTests {
    private let hidden = Redaction.standard
    private let shown = Redaction(showsSecrets: true)

    @Test(arguments: [
        ("Authorization", "Bearer abc", "Bearer ***"), ("authorization", "basic YTpi", "basic ***"),
        ("Authorization", "my own words", "***"), ("Authorization", "Bearer", "***"),
        ("Authorization", "Bearer \u{301}abc", "Bearer ***"),
        ("Proxy-Authorization", "Digest username=\"x\"", "Digest ***"),
        ("Cookie", "a=1; b=2", "***"), ("Set-Cookie", "a=1; Path=/", "***"), ("X-API-Key", "k", "***"),
        ("X-Auth-Token", "k", "***"), ("Client-Secret", "k", "***"), ("X-Password", "Basic abc", "Basic ***"),
        ("Accept", "Basic abc", "Basic abc"), ("Referer", "http://a:b@x/y", "http://***@x/y"),
        ("Location", "/a?token=b c", "/a?token=***"),
        ("Link", "<http://x/?sig=a>; rel=next", "<http://x/?sig=***>; rel=next"),
        ("WWW-Authenticate", "Basic realm=\"x\"", "Basic realm=\"x\""),
        ("WWW-Authenticate", "Bearer realm=x,  error=\"a, Bearer abc\"", "Bearer realm=x,  error=\"a, Bearer abc\""),
        ("WWW-Authenticate", "Negotiate YII==, Basic realm=\"x\"", "Negotiate ***, Basic realm=\"x\""),
        ("WWW-Authenticate", "NTLM", "NTLM"), ("Server", "Bearer abc.def-ghi", "Bearer ***"),
        ("X-Next", "bearer  abc", "bearer ***"), ("X-Note", "The Bearer token", "The Bearer token"),
        ("Sec-WebSocket-Protocol", "chat, eyJhbGciOi", "***"), ("sec-websocket-protocol", "bearer, abc", "***"),
    ])
    func headersThatCarrySecretsAreHidden(name: String, value: String, expected: String) {
        #expect(hidden.value(value, of: name) == expected)
        #expect(shown.value(value, of: name) == value)
    }

    @Test(arguments: [
        "sig", "key", "pwd", "X-Auth-Key", "X-Access-Key", "Ocp-Apim-Subscription-Key", "X_API_KEY", "apiKey",
        "api.key",
        "api key", "user[password]", "key1", "authKey", "X-Auth", "JSESSIONID", "Mcp-Session-Id",
        "X-Amz-Security-Token", "DBPass", "SMTPPass", "s3Key", "md5Sig", "X-SMTPPass",
        "X-Forwarded-Authorization", "Sec-WebSocket-Protocol", "passphrase", "accessKey", "to\u{301}ken",
    ])
    func sensitiveNamesAreDetected(name: String) {
        #expect(Redaction.isSensitive(name))
    }

    @Test(arguments: [
        "Accept", "Content-Type", "Keep-Alive", "monkey", "keyword", "passenger", "authority", "author", "design",
        "Access-Control-Allow-Credentials", "Idempotency-Key", "Sec-WebSocket-Key", "WWW-Authenticate", "side", "",
    ])
    func otherNamesAreNotSensitive(name: String) {
        #expect(!Redaction.isSensitive(name))
    }

    @Test func theSessionsSensitiveHeadersAreHidden() {
        #expect(Redaction(sensitiveHeaders: ["X-Own"]).value("a", of: "x-own") == "***")
        #expect(hidden.value("a", of: "x-own") == "a")
    }

    @Test(arguments: [
        ("http://ada:pw@x/a@b", "http://***@x/a@b"), ("http://x/a", "http://x/a"), ("http://x/@me", "http://x/@me"),
        ("//ada:pw@x/", "//***@x/"), ("http://ada:pw@\u{301}x/", "http://***@\u{301}x/"),
        ("http://ada:p'w@x/", "http://***@x/"), ("http://ada:p\"w@x/", "http://***@x/"),
        ("http://ada:p/w@x/", "http://***@x/"), ("http://ada:/pw@x/", "http://***@x/"),
        ("http:///ada:pw@x/", "http://***@x/"),
        ("http:\\\\ada:pw@x/", "***@x/"), ("ada:pw@x/", "***@x/"), ("http:/ada:pw@x/", "***@x/"),
        ("http://a:b@x/?to=http://c:d@y/", "http://***@x/?to=http://***@y/"),
        ("http://[::1]:80/@a", "http://[::1]:80/@a"), ("/a?b=c@d", "/a?b=c@d"),
    ])
    func userinfoIsHidden(url: String, expected: String) {
        #expect(Array(hidden.url(url).utf8) == Array(expected.utf8))
        #expect(shown.url(url) == url)
    }

    @Test(arguments: [
        ("http://x/a?q=1&access_token=abc&b=2#c", "http://x/a?q=1&access_token=***&b=2#c"),
        ("http://x/?api_key=abc", "http://x/?api_key=***"),
        ("http://x/?X-Amz-Signature=abc&token=a=b", "http://x/?X-Amz-Signature=***&token=***"),
        ("http://x/?client_secret=&a=b", "http://x/?client_secret=***&a=b"),
        ("http://x/?code=abc&state=1&barcode=2", "http://x/?code=***&state=1&barcode=2"),
        ("http://x/?code_verifier=a&device_code=b", "http://x/?code_verifier=***&device_code=***"),
        ("http://x/?assertion=a&client_assertion=b", "http://x/?assertion=***&client_assertion=***"),
        ("http://x/?subject_token=a&actor_token=b", "http://x/?subject_token=***&actor_token=***"),
        ("http://x/token=abc?a=b", "http://x/token=abc?a=b"), ("/a?password=ü", "/a?password=***"),
        ("x@y?token=abc", "***@y?token=***"),
        ("http://x/cb#access_token=abc&state=1", "http://x/cb#access_token=***&state=1"),
        ("http://x/?a=b#id_token=abc", "http://x/?a=b#id_token=***"),
        ("http://x/?password=it'sX", "http://x/?password=***"), ("http://x/?password=a b", "http://x/?password=***"),
        ("http://x/?password=<\">'", "http://x/?password=***"),
        ("http://x/?a=1;token=b;c&d=e", "http://x/?a=1;token=***&d=e"),
        ("http://x/a;sig=b/c;pwd=d?e=f", "http://x/a;sig=***/c;pwd=***?e=f"),
        ("http://x/?access%5Ftoken=abc", "http://x/?access%5Ftoken=***"),
        ("http://x/?%74oken%3Dabc", "http://x/?%74oken%3D***"),
        ("http://x/?to=http%3A%2F%2Fy%2F%3Ftoken%3Dabc&a=b", "http://x/?to=***&a=b"),
        ("http://x/?to=http%253A%252F%252Fa%253Ab%2540y", "http://x/?to=***"),
        ("http://x/http%3A%2F%2Fa%3Ab%40y/b", "http://x/***/b"),
        ("http://x/?mail=a%40b&c=100%25", "http://x/?mail=a%40b&c=100%25"),
        ("http://x/?a=b?token=c", "http://x/?a=b?token=***"),
        ("http://x/?sig\u{301}=\u{301}abc", "http://x/?sig\u{301}=***"),
    ])
    func parametersThatCarrySecretsAreHidden(url: String, expected: String) {
        #expect(Array(hidden.url(url).utf8) == Array(expected.utf8))
        #expect(shown.url(url) == url)
    }

    @Test(arguments: [
        (
            "Is http://x/?token=abc right? The password=none, a=b.",
            "Is http://x/?token=*** right? The password=none, a=b."
        ),
        ("(see http://a:b@x/?sig=c), then go", "(see http://***@x/?sig=***), then go"),
        ("\"http://x/?pwd=a\" and <//a:b@y>", "\"http://x/?pwd=***\" and <//***@y>"),
        ("'http://x/?password=it'sX'", "'http://x/?password=***'"),
        ("c@d is no https://x/@me, nor 100%", "c@d is no https://x/@me, nor 100%"),
    ])
    func urlsInSentencesAreRedacted(text: String, expected: String) {
        #expect(hidden.text(text) == expected)
        #expect(shown.text(text) == text)
        #expect(hidden.text(expected) == expected)
    }

    @Test func aLineHasNeitherSecretsNorControlCharacters() {
        #expect(hidden.line("http://x/?key=a\nb\u{1B}[2J") == "http://x/?key=*** b\\u001B[2J")
    }

    @Test func longTextsTakeTimeInProportion() {
        let clock = ContinuousClock()
        for unit in ["=", "%", "//", "@", "?a=%25", "&;", "//a@", "\\\\a", "%2F%2F", "http://a:b@x/?token=%3D "] {
            let text = String(repeating: unit, count: 100_000 / unit.utf8.count)
            // Quadratic time would take hours.
            let time = clock.measure { _ = hidden.text("=" + text).utf8.count + hidden.url("=" + text).utf8.count }
            #expect(time < .seconds(20), "\(unit)")
        }
    }
}
