import AfarTesting
import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import AfarStages

/// The contents of redirected requests.
struct RedirectRulesTests {
    private let secrets = [
        "Authorization", "Cookie", "Proxy-Authorization", "X-Mine", "X-Api-Key", "x-auth-token", "MyKey", "X-CSRFToken",
    ]

    /// Sends a request that is redirected once, and returns all sent requests.
    private func requests(
        for exchange: Exchange, answer: MockResponse, rules: RedirectRules = RedirectRules(sensitiveHeaders: ["x-mine"])
    ) async throws -> [MockRequest] {
        let answers = Locked([answer])
        let mock = MockTransport { _ in answers.withLock { $0.popLast() } ?? .text("there") }
        _ = try await StagedTransport(mock, RedirectStage(rules: rules)).send(exchange)
        return mock.requests
    }

    // MARK: Method and body

    @Test(arguments: [
        (301, "GET", "GET"), (301, "HEAD", "HEAD"), (301, "POST", "GET"), (301, "PUT", "PUT"),
        (301, "DELETE", "DELETE"),
        (302, "GET", "GET"), (302, "HEAD", "HEAD"), (302, "POST", "GET"), (302, "PUT", "PUT"), (302, "PATCH", "PATCH"),
        (303, "GET", "GET"), (303, "HEAD", "HEAD"), (303, "POST", "GET"), (303, "PUT", "GET"), (303, "DELETE", "GET"),
        (307, "GET", "GET"), (307, "POST", "POST"), (307, "PUT", "PUT"), (308, "POST", "POST"), (308, "PATCH", "PATCH"),
    ])
    func theMethodFollowsTheStandard(status: Int, method: String, expected: String) async throws {
        let method = try #require(HTTPRequest.Method(method))
        let body = method == .get || method == .head ? RequestBody.none : .data(Data("body".utf8))
        let fields = body.isNone ? [:] : ["Content-Type": "text/x", "Content-Language": "en", "Expect": "100-continue"]
        let sent = try await requests(
            for: .to("http://one/a", method, fields: fields, body: body), answer: .redirect(status, to: "/b"))
        #expect(sent.map(\.url) == ["http://one/a", "http://one/b"])
        #expect(sent[1].method.rawValue == expected)
        let keepsBody = expected != "GET" && expected != "HEAD"
        #expect(sent[1].body == (keepsBody ? Data("body".utf8) : Data()))
        for name in fields.keys { #expect(sent[1][name] == (keepsBody ? fields[name] : nil), "\(name)") }
    }

    @Test func bodyFieldsAreRemovedWithTheBody() async throws {
        var exchange = try Exchange.to(
            "http://one/", .post, fields: ["Digest": "x", "Transfer-Encoding": "chunked", "Accept": "y"],
            body: .data(Data("body".utf8)))
        exchange.options.defaultFields = DefaultFields([.contentType: "text/x", .userAgent: "test"])
        let sent = try await requests(for: exchange, answer: .redirect(303, to: "/b"))
        for name in ["Digest", "Transfer-Encoding", "Content-Type"] { #expect(sent[1][name] == nil, "\(name)") }
        #expect(sent[1]["Accept"] == "y")
        #expect(sent[1]["User-Agent"] == "test")
    }

    @Test(arguments: [307, 308])
    func aOneShotStreamIsNotResent(status: Int) async throws {
        let body = RequestBodyStream(isReplayable: false) {
            let rest = Locked([Data("body".utf8)])
            return { rest.withLock { $0.popLast() } }
        }
        let mock = MockTransport { _ in .redirect(status, to: "http://two/?page=1") }
        let exchange = try Exchange.to("http://one/", .post, body: .stream(body))
        let error = await transportFailure { _ = try await StagedTransport(mock, RedirectStage()).send(exchange) }
        #expect(error?.code == .requestBodyFailed)
        #expect(error?.message.contains("from http://one/ to http://two/?page=1") == true)
        #expect(error?.report.transactions.count == 1)
        #expect(mock.requests.count == 1)
    }

    // MARK: Secrets

    @Test(
        arguments: [301, 302, 303, 307, 308],
        [
            "https://one/", "http://two/", "http://one:81/", "https://one:80/", "http://one./", "//two",
            "http://sub.one/",
        ])
    func secretsAreNotSentToAnotherOrigin(status: Int, location: String) async throws {
        let values = Dictionary(uniqueKeysWithValues: secrets.map { ($0, "hush") })
        var exchange = try Exchange.to("http://one/", fields: values)
        for areDefaults in [false, true] {
            if areDefaults {
                exchange.options.defaultFields = DefaultFields(exchange.request.headerFields)
                exchange.request.headerFields = [.accept: "x"]
            }
            let sent = try await requests(for: exchange, answer: .redirect(status, to: location))
            #expect(sent.count == 2)
            for name in secrets {
                #expect(sent[0][name] == "hush")
                #expect(sent[1][name] == nil, "\(name)")
            }
            #expect(!sent[1].fields.contains { $0.value.contains("hush") })
        }
    }

    @Test(arguments: ["/b", "?b", "http://one/b", "http://one:80/b", "HTTP://ONE/b", "//one/b", "http://x@one/b"])
    func secretsAreSentToTheSameOrigin(location: String) async throws {
        let values = Dictionary(uniqueKeysWithValues: secrets.map { ($0, "hush") })
        let sent = try await requests(
            for: .to("http://one/", fields: values), answer: .redirect(to: location))
        for name in secrets { #expect(sent[1][name] == "hush", "\(name)") }
    }

    @Test func redactedFieldsAreNotSentToAnotherOrigin() async throws {
        let names = [
            "Authorization", "Cookie", "X-Api-Key", "X-Mine", "X-Amz-Security-Token", "Client-Secret", "X-User-Pwd",
            "Idempotency-Key", "Sec-WebSocket-Key", "Surrogate-Key", "Accept", "X-Note", "X-Keyboard", "Via",
        ]
        let redaction = Redaction(sensitiveHeaders: ["x-mine"])
        let values = Dictionary(uniqueKeysWithValues: names.map { ($0, "plain") })
        let sent = try await requests(for: .to("http://one/", fields: values), answer: .redirect(to: "http://two/"))
        for name in names {
            #expect((sent[1][name] == nil) == (redaction.value("plain", of: name) == "***"), "\(name)")
        }
        #expect(names.filter { sent[1][$0] != nil } == Array(names[7...]))
    }

    @Test func removedFieldsAreNotRestored() async throws {
        let mock = MockTransport { request in
            switch request.url {
            case "http://one/a": .redirect(to: "http://two/")
            case "http://two/": .redirect(to: "http://one/b")
            default: .text("there")
            }
        }
        var exchange = try Exchange.to("http://one/a", fields: ["Authorization": "hush", "Host": "inner"])
        exchange.options.defaultFields = DefaultFields([.cookie: "hush", .accept: "x"])
        exchange.policies.credential = Credential(user: "a", password: "b", origin: Origin(exchange.request))
        _ = try await StagedTransport(mock, RedirectStage()).send(exchange)
        #expect(mock.requests.map(\.url) == ["http://one/a", "http://two/", "http://one/b"])
        for request in mock.requests[1...] {
            #expect(request["Authorization"] == nil)
            #expect(request["Cookie"] == nil)
            #expect(request["Host"] == nil)
            #expect(request["Accept"] == "x")
            #expect(request.exchange.policies.credential == nil)
        }
    }

    @Test func aUserNameInALocationIsNeitherSentNorShown() async throws {
        let sent = try await requests(
            for: .to("http://one/"), answer: .redirect(to: "http://ada:hush@two/x"))
        #expect(sent[1].url == "http://two/x")
        #expect(sent[1]["Authorization"] == nil)
        for location in ["ftp://ada:hush@two/", "http://ada:hush@@two/", "http://ada:hush@two:x/"] {
            let mock = MockTransport { _ in .redirect(to: location) }
            let exchange = try Exchange.to("http://one/")
            let error = try #require(
                await transportFailure { _ = try await StagedTransport(mock, RedirectStage()).send(exchange) },
                "\(location)")
            #expect(error.code == .invalidRedirect)
            #expect(!error.description.contains("hush"))
            #expect(error.description.contains("from http://one/"))
        }
    }

    // MARK: Location

    @Test(arguments: ["https", "http"])
    func insecureRedirectsRequireAnOption(scheme: String) async throws {
        let exchange = try Exchange.to("https://one/", fields: ["Referer": "https://one/secret", "Accept": "x"])
        let answer = MockResponse.redirect(to: "\(scheme)://one/b")
        let allowed = try await requests(for: exchange, answer: answer, rules: RedirectRules(allowsInsecure: true))
        #expect(allowed[1]["Referer"] == (scheme == "https" ? "https://one/secret" : nil))
        #expect(allowed[1]["Accept"] == "x")
        let error = await transportFailure { _ = try await requests(for: exchange, answer: answer) }
        #expect(error?.code == (scheme == "https" ? nil : .insecureRedirect))
        if let error { #expect(error.urlError.code == .appTransportSecurityRequiresSecureConnection) }
    }

    @Test(arguments: [
        "ftp://two/", "mailto:ada", "file:///etc/passwd", "http:two", "http://", "http://two:99999/", "/a\\b",
        // As a Character, the next one differs from a backslash.
        "http://two\\\u{301}@three/",
        "http:\\\\two\\", "http://127.1/", "http://[::1/", "http://a b/", "javascript:alert(1)", "http:///x",
    ])
    func ambiguousLocationsAreErrors(location: String) async throws {
        let mock = MockTransport { _ in .redirect(to: location) }
        let exchange = try Exchange.to("http://one/")
        let error = await transportFailure { _ = try await StagedTransport(mock, RedirectStage()).send(exchange) }
        #expect(error?.code == .invalidRedirect)
        #expect(error?.urlError.code == .redirectToNonExistentLocation)
        #expect(error?.report.transactions.count == 1)
        #expect(mock.requests.count == 1)
    }

    @Test func differingLocationsAreAnError() async throws {
        var response = MockResponse.redirect(to: "/b")
        response.fields.append(HTTPField(name: .location, value: "/b"))
        #expect(try await requests(for: .to("http://one/"), answer: response).count == 2)
        response.fields.append(HTTPField(name: .location, value: "/c"))
        let error = await transportFailure { _ = try await requests(for: .to("http://one/"), answer: response) }
        #expect(error?.code == .invalidRedirect)
    }

    @Test(arguments: [300, 304, 305, 306, 310, 399, 200, 201, 404])
    func otherStatusesAreNotRedirects(status: Int) async throws {
        let sent = try await requests(for: .to("http://one/"), answer: .redirect(status, to: "/b"))
        #expect(sent.count == 1)
    }

    @Test(arguments: [301, 302, 303, 307, 308])
    func withoutALocationTheResponseIsTheFinalOne(status: Int) async throws {
        var empty = MockResponse.redirect(status, to: "")
        #expect(try await requests(for: .to("http://one/"), answer: empty).count == 1)
        empty.fields[.location] = nil
        #expect(try await requests(for: .to("http://one/"), answer: empty).count == 1)
    }
}
