import Testing

@testable import AfarCore

@Suite("HTTPHeader")
struct HTTPHeaderTests {
    @Test(
        "each factory sets its header name",
        arguments: [
            (HTTPHeader.accept("v"), "Accept: v"),
            (.acceptCharset("v"), "Accept-Charset: v"),
            (.acceptLanguage("v"), "Accept-Language: v"),
            (.acceptEncoding("v"), "Accept-Encoding: v"),
            (
                .authorization(username: "Aladdin", password: "open sesame"),
                "Authorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="
            ),
            (.authorization(username: "é", password: ""), "Authorization: Basic w6k6"),
            (.authorization(bearerToken: "t"), "Authorization: Bearer t"),
            (.authorization("Odd x"), "Authorization: Odd x"),
            (.contentDisposition("v"), "Content-Disposition: v"),
            (.contentEncoding("v"), "Content-Encoding: v"),
            (.contentType("v"), "Content-Type: v"),
            (.priority(), "Priority: u=3"),
            (.priority(urgency: 9, isIncremental: true), "Priority: u=7, i"),
            (.priority(urgency: -1), "Priority: u=0"),
            (.userAgent("v"), "User-Agent: v"),
            (.websocketProtocol("v"), "Sec-WebSocket-Protocol: v"),
        ])
    func factories(header: HTTPHeader, text: String) {
        #expect(header.description == text)
    }

    @Test("quality values decrease by 0.1 and never reach zero")
    func quality() {
        #expect(HTTPHeader.qualityList([]) == "")
        #expect(HTTPHeader.qualityList(["en", "fr", "de", "es"]) == "en;q=1.0, fr;q=0.9, de;q=0.8, es;q=0.7")
        #expect(HTTPHeader.qualityList((0..<12).map { "l\($0)" }).hasSuffix("l10;q=0.1, l11;q=0.1"))
    }

    @Test("a user agent is printable for any program name")
    func userAgent() {
        let text = HTTPHeader.userAgentText(
            name: "Sh\u{f6}p\r\nX-Evil: 1", version: "2.1", bundle: "org.example.Shop", build: "14",
            system: "Linux 6.1.0"
        )
        #expect(text == "Sh_p_X-Evil: 1/2.1 (org.example.Shop; build:14; Linux 6.1.0) Afar/\(AFInfo.version)")
    }

    @Test("a user agent omits unknown parts")
    func shortUserAgents() {
        func text(_ version: String?, _ bundle: String?, _ build: String?, _ system: String?) -> String {
            HTTPHeader.userAgentText(name: "shop", version: version, bundle: bundle, build: build, system: system)
        }
        #expect(text(nil, nil, nil, "Linux 6.1.0") == "shop (Linux 6.1.0) Afar/\(AFInfo.version)")
        #expect(text("2.1", nil, "14", nil) == "shop/2.1 (build:14) Afar/\(AFInfo.version)")
        #expect(text(nil, nil, nil, nil) == "shop Afar/\(AFInfo.version)")
        #expect(!HTTPHeader.defaultUserAgent.value.contains("Unknown"))
    }
}
