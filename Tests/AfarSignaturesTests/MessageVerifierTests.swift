import AfarTransport
import Foundation
import HTTPTypes
import Testing

@testable import AfarSignatures

/// Signatures that are refused.
@Suite struct MessageVerifierTests {
    private static let now = Date(timeIntervalSince1970: 1_800_000_000)

    private static func key(_ algorithm: SignatureAlgorithm = .hmacSHA256) throws -> SignatureKey {
        try algorithm == .hmacSHA256 ? MessageVectorTests.secret() : .generate(algorithm)
    }

    private static func signer(_ key: SignatureKey, _ components: [SignatureComponent] = [.method, .path])
        -> MessageSigner
    {
        MessageSigner(key: key, keyID: "k", components: components)
    }

    private static func verifier(
        _ key: SignatureKey, components: [SignatureComponent] = [.method, .path],
        algorithms: Set<SignatureAlgorithm> = Set(SignatureAlgorithm.allCases), nonces: NonceStore? = nil,
        age: TimeInterval = 300
    ) -> MessageVerifier {
        var verifier = MessageVerifier(
            components: components, algorithms: algorithms, maximumAge: age, nonces: nonces
        ) { $0.keyID == "k" ? key : nil }
        verifier.requiredIfPresent = []
        return verifier
    }

    /// Checks that a request is refused for a reason.
    private static func refuses(
        _ request: HTTPRequest, _ verifier: MessageVerifier, at date: Date = now, because reason: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async {
        let error = await #expect(throws: MessageSignatureError.self, sourceLocation: sourceLocation) {
            try await verifier.verify(request, at: date)
        }
        #expect(
            error?.description.contains(reason) == true, "\(error?.description ?? "")", sourceLocation: sourceLocation)
    }

    private static func input(_ request: HTTPRequest) -> String { request.headerFields.value("Signature-Input") ?? "" }

    private static func replacingInput(_ request: HTTPRequest, _ old: String, _ new: String) -> HTTPRequest {
        var request = request
        request.headerFields.set("Signature-Input", to: input(request).replacingOccurrences(of: old, with: new))
        return request
    }

    // MARK: Requirements

    @Test func algorithms() async throws {
        let key = try Self.key()
        let request = try Self.signer(key).signed(MessageVectorTests.request(), at: Self.now)
        _ = try await Self.verifier(key).verify(request, at: Self.now)
        await Self.refuses(request, Self.verifier(key, algorithms: [.ed25519]), because: "isn't permitted")
        await Self.refuses(request, Self.verifier(key, algorithms: []), because: "at least one")
        // The name of another algorithm doesn't change how the key is used.
        let other = Self.replacingInput(request, "hmac-sha256", "ed25519")
        await Self.refuses(other, Self.verifier(key), because: "different algorithm")
        let none = Self.replacingInput(request, "hmac-sha256", "none")
        await Self.refuses(none, Self.verifier(key), because: "different algorithm")
        // A public key's text is not a secret.
        let pair = try Self.key(.ecdsaP256SHA256)
        let forged = try Self.signer(SignatureKey(secret: Data(pair.publicKeyPEM().utf8)))
            .signed(MessageVectorTests.request(), at: Self.now)
        await Self.refuses(forged, Self.verifier(pair), because: "different algorithm")
        let unnamed = Self.replacingInput(forged, ";alg=\"hmac-sha256\"", "")
        await Self.refuses(unnamed, Self.verifier(pair), because: "signature is invalid")
    }

    @Test func components() async throws {
        let key = try Self.key()
        let request = try Self.signer(key).signed(MessageVectorTests.request(), at: Self.now)
        await Self.refuses(
            request, Self.verifier(key, components: [.method, .query]), because: "doesn't cover \"@query\"")
        await Self.refuses(request, Self.verifier(key, components: []), because: "at least one")
        // The same component with other parameters isn't the required one.
        let bytes = try Self.signer(key, [.bytesOfField("date")]).signed(MessageVectorTests.request(), at: Self.now)
        await Self.refuses(bytes, Self.verifier(key, components: ["date"]), because: "doesn't cover \"date\"")
        for (path, method) in [("/foo", HTTPRequest.Method.get), ("/bar?param=Value&Pet=dog", .post)] {
            var changed = request
            (changed.path, changed.method) = (path, method)
            await Self.refuses(changed, Self.verifier(key), because: "signature is invalid")
        }
        let twice = Self.replacingInput(request, "\"@path\"", "\"@path\" \"@path\"")
        await Self.refuses(twice, Self.verifier(key), because: "more than once")
        let unknown = Self.replacingInput(request, "\"@path\"", "\"@path\" \"@foo\"")
        await Self.refuses(unknown, Self.verifier(key), because: "unknown")
        let parameter = Self.replacingInput(request, "\"@path\"", "\"@path\" \"date\";foo")
        await Self.refuses(parameter, Self.verifier(key), because: "invalid name or parameter")
        let uppercase = Self.replacingInput(request, "\"@path\"", "\"@path\" \"Date\"")
        await Self.refuses(uppercase, Self.verifier(key), because: "invalid name or parameter")
        let status = Self.replacingInput(request, "\"@path\"", "\"@path\" \"@status\"")
        await Self.refuses(status, Self.verifier(key), because: "no status")
        let response = Self.replacingInput(request, "\"@path\"", "\"@path\" \"@query\";req")
        await Self.refuses(response, Self.verifier(key), because: "response's signature")
    }

    /// Optional fields that must be covered if a message has them.
    @Test func fieldsThatArePresent() async throws {
        let key = try Self.key()
        var verifier = Self.verifier(key, components: [.method])
        func request(_ components: [SignatureComponent], _ fields: [(String, String)]) throws -> HTTPRequest {
            try Self.signer(key, [.method] + components).signed(
                MessageVectorTests.request(fields: fields), at: Self.now)
        }
        verifier.requiredIfPresent = [.contentType, .setCookie]
        let json = ("Content-Type", "application/json")
        _ = try await verifier.verify(request([], [("X-Other", "a")]), at: Self.now)
        for component: SignatureComponent in ["content-type", .bytesOfField("Content-Type")] {
            _ = try await verifier.verify(request([component], [json]), at: Self.now)
        }
        let priority = ("Priority", "u=3")
        await Self.refuses(try request([], [json]), verifier, because: "doesn't cover: Content-Type")
        let cookies = [json, ("Set-Cookie", "a=1"), ("Set-Cookie", "b=2")]
        await Self.refuses(try request(["content-type"], cookies), verifier, because: "doesn't cover: Set-Cookie")
        _ = try await verifier.verify(
            request(["content-type", .bytesOfField("Set-Cookie")], cookies), at: Self.now)
        // A field that is added after the signature.
        var added = try request([], [])
        added.headerFields.add("Content-Type", "text/html")
        await Self.refuses(added, verifier, because: "doesn't cover: Content-Type")
        // One member isn't the field.
        verifier.requiredIfPresent = [try #require(HTTPField.Name("Priority"))]
        await Self.refuses(
            try request([.member("u", of: "priority")], [priority]), verifier, because: "doesn't cover: Priority")
        _ = try await verifier.verify(request([.structuredField("priority")], [priority]), at: Self.now)
    }

    /// A component that is present, but can't be covered, isn't left out.
    @Test func optionalComponents() throws {
        var signer = Self.signer(try Self.key(), [.method])
        signer.optionalComponents = [
            "x-text", .structuredField("x-list"), .member("u", of: "priority"), .queryParameter("a"), .query,
        ]
        let covered = try signer.signed(MessageVectorTests.request(.get, "/?b=1", fields: [("Priority", "i")]))
        #expect(Self.input(covered).hasPrefix("sig1=(\"@method\" \"@query\")"))
        let all = try signer.signed(
            MessageVectorTests.request(
                .get, "/?a=1", fields: [("X-Text", "a"), ("X-List", "1, 2"), ("Priority", "u=1")]))
        #expect(Self.input(all).contains("\"x-text\" \"x-list\";sf \"priority\";key=\"u\" \"@query-param\";name=\"a\""))
        for (path, field) in [
            ("/", ("X-Text", "ä")), ("/", ("X-List", "(")), ("/", ("Priority", "u=")), ("/?a=1&a=2", ("Date", "")),
        ] {
            #expect(throws: MessageSignatureError.self, "\(path) \(field)") {
                try signer.signed(MessageVectorTests.request(.get, path, fields: [field]))
            }
        }
    }

    @Test func times() async throws {
        let key = try Self.key()
        var signer = Self.signer(key)
        signer.lifetime = 100
        let request = try signer.signed(MessageVectorTests.request(), at: Self.now)
        var verifier = Self.verifier(key)
        _ = try await verifier.verify(request, at: Self.now + 160)
        _ = try await verifier.verify(request, at: Self.now - 60)
        await Self.refuses(request, verifier, at: Self.now + 161, because: "expired")
        await Self.refuses(request, verifier, at: Self.now - 61, because: "in the future")
        await Self.refuses(request, verifier, at: Self.now + 361, because: "too old")
        for value in ["\"1800000000\"", "1800000000.5", "-1", "?1"] {
            let changed = Self.replacingInput(request, "created=1800000000", "created=\(value)")
            await Self.refuses(changed, verifier, because: "HTTP message signature")
        }
        let never = Self.replacingInput(request, ";created=1800000000", "")
        await Self.refuses(never, verifier, because: "no valid creation time")
        let huge = Self.replacingInput(request, "expires=1800000100", "expires=999999999999999")
        await Self.refuses(huge, verifier, because: "signature is invalid")
        verifier.requiresExpiration = true
        _ = try await verifier.verify(request, at: Self.now)
        let endless = Self.replacingInput(request, ";expires=1800000100", "")
        await Self.refuses(endless, verifier, because: "no expiration time")
        // Strange numbers of the caller aren't fatal.
        verifier.clockTolerance = .nan
        signer.lifetime = .infinity
        _ = try signer.signed(MessageVectorTests.request(), at: Date(timeIntervalSince1970: .nan))
        await Self.refuses(request, verifier, at: Date(timeIntervalSince1970: .infinity), because: "too old")
    }

    @Test func nonces() async throws {
        let key = try Self.key()
        let store = NonceStore(capacity: 2)
        let verifier = Self.verifier(key, nonces: store)
        var signer = Self.signer(key)
        func sign(at date: Date = Self.now) throws -> HTTPRequest {
            try signer.signed(MessageVectorTests.request(), at: date)
        }
        let first = try sign()
        _ = try await verifier.verify(first, at: Self.now)
        await Self.refuses(first, verifier, because: "nonce has been used")
        await Self.refuses(first, verifier, at: Self.now + 300, because: "nonce has been used")
        // An invalid signature doesn't use up a nonce.
        let second = try sign()
        await Self.refuses(
            Self.replacingInput(second, "keyid=\"k\"", "keyid=\"k\";tag=\"x\""), verifier,
            because: "signature is invalid")
        _ = try await verifier.verify(second, at: Self.now)
        await Self.refuses(try sign(), verifier, because: "full")
        // Nonces are forgotten when their signatures are too old.
        let late = Self.now + 1_000
        _ = try await verifier.verify(try sign(at: late), at: late)
        signer.addsNonce = false
        await Self.refuses(try sign(), verifier, because: "no nonce")
        _ = try await Self.verifier(key).verify(try sign(), at: Self.now)
    }

    /// A nonce that was removed isn't accepted again when the clock goes back.
    @Test func noncesAreRefusedAfterTheClockWasSetBack() async throws {
        let key = try Self.key()
        let verifier = Self.verifier(key, nonces: NonceStore(capacity: 1))
        let signer = Self.signer(key)
        func sign(at date: Date) throws -> HTTPRequest { try signer.signed(MessageVectorTests.request(), at: date) }
        let first = try sign(at: Self.now)
        _ = try await verifier.verify(first, at: Self.now)
        let late = Self.now + 1_000
        _ = try await verifier.verify(try sign(at: late), at: late)
        await Self.refuses(first, verifier, because: "clock was set back")
        // The store isn't searched a second time in one second, but immediately after the clock was set back.
        await Self.refuses(try sign(at: late), verifier, at: late, because: "full")
        await Self.refuses(try sign(at: late - 1), verifier, at: late - 1, because: "full")
        let later = late + 1_000
        _ = try await verifier.verify(try sign(at: later), at: later)
    }

    /// A message with several signatures is accepted once, even if some of them are removed.
    @Test func noncesOfSeveralSignatures() async throws {
        let key = try Self.key()
        var signer = Self.signer(key)
        let first = try signer.signed(MessageVectorTests.request(), at: Self.now)
        signer.label = "sig2"
        let both = try signer.signed(first, at: Self.now)
        var second = both
        for name in ["Signature-Input", "Signature"] {
            let value = try #require(both.headerFields.value(name))
            second.headerFields.set(name, to: String(value[try #require(value.range(of: "sig2=")).lowerBound...]))
        }
        var verifier = Self.verifier(key, nonces: NonceStore())
        _ = try await verifier.verify(both, at: Self.now)
        for request in [both, first, second] {
            await Self.refuses(request, verifier, because: "nonce has been used")
        }
        verifier = Self.verifier(key, nonces: NonceStore())
        _ = try await verifier.verify(first, at: Self.now)
        for request in [both, second] { await Self.refuses(request, verifier, because: "nonce has been used") }
        // Both signatures need space in the store.
        await Self.refuses(both, Self.verifier(key, nonces: NonceStore(capacity: 1)), because: "full")
    }

    /// A nonce is kept for the verifier that accepts signatures for the longest time.
    @Test func verifiersWithDifferentLimitsShareNonces() async throws {
        let key = try Self.key()
        for isTolerant in [false, true] {
            let store = NonceStore(capacity: 1)
            let short = Self.verifier(key, nonces: store, age: 60)
            var long = Self.verifier(key, nonces: store, age: isTolerant ? 60 : 600)
            if isTolerant { long.clockTolerance = 600 }
            let request = try Self.signer(key).signed(MessageVectorTests.request(), at: Self.now)
            _ = try await short.verify(request, at: Self.now)
            let late = Self.now + 500
            await Self.refuses(request, long, at: late, because: "nonce has been used")
            let other = try Self.signer(key).signed(MessageVectorTests.request(), at: late)
            await Self.refuses(other, long, at: late, because: "full")
            await Self.refuses(request, long, at: late, because: "nonce has been used")
        }
    }

    // MARK: Fields

    @Test func malformedFields() async throws {
        let key = try Self.key()
        let request = try Self.signer(key).signed(MessageVectorTests.request(), at: Self.now)
        let verifier = Self.verifier(key)
        await Self.refuses(MessageVectorTests.request(), verifier, because: "no signature")
        for value in [
            "", "sig1", "sig1=1", "sig1=\"x\"", "sig1=(", "sig1=(\"@method\" 1);created=1",
            "sig1=(\"@method\");created",
            "Sig1=()", "sig1=(\"@query-param\");created=1800000000", String(repeating: "a", count: 20_000),
            "sig1=(" + String(repeating: "\"a\" ", count: 100) + ");created=1800000000",
            "sig1=()" + String(repeating: ";a", count: 2_000), (0..<9).map { "s\($0)=()" }.joined(separator: ", "),
        ] {
            var changed = request
            changed.headerFields.set("Signature-Input", to: value)
            await Self.refuses(changed, verifier, because: "HTTP message signature")
        }
        for value in ["sig1=::", "sig1=1", "sig2=:AAAA:", "sig1=:AAA:", "", "sig1=:AAAA:;", "sig1=(:AAAA:)"] {
            var changed = request
            changed.headerFields.set("Signature", to: value)
            await Self.refuses(changed, verifier, because: "HTTP message signature")
        }
        // The same label twice, in one line or in two.
        var repeated = request
        repeated.headerFields.set("Signature-Input", to: "\(Self.input(request)), \(Self.input(request))")
        await Self.refuses(repeated, verifier, because: "more than once")
        repeated = request
        repeated.headerFields.add("Signature", request.headerFields.value("Signature") ?? "")
        await Self.refuses(repeated, verifier, because: "more than once")
        repeated.headerFields.set(
            "Signature", to: "a=%\"\\\", \(request.headerFields.value("Signature") ?? ""), sig1=:AAAA:")
        await Self.refuses(repeated, verifier, because: "more than once")
    }

    /// Changed bytes of the fields are never accepted, unless the signature's components stay the same.
    @Test(.timeLimit(.minutes(5))) func mutatedFields() async throws {
        let key = try Self.key()
        let request = try Self.signer(key, [.method, .path, "content-type", .queryParameter("Pet")])
            .signed(MessageVectorTests.request(), at: Self.now)
        let verifier = Self.verifier(key)
        let expected = try await verifier.verify(request, at: Self.now)
        var generator = SeededGenerator(seed: 7)
        let tokens = [
            "\"", "(", ")", ";", "=", ",", ":", "sig1", "\\", "%\"", "@path", ";req", ";tr", "999999999999999", " ",
            "?1",
        ]
        var accepted = 0
        for index in 0..<3_000 {
            let name = index % 2 == 0 ? "Signature-Input" : "Signature"
            var bytes = Array((request.headerFields.value(name) ?? "").utf8)
            for _ in 0..<Int.random(in: 1...3, using: &generator) {
                let place = Int.random(in: 0..<max(bytes.count, 1), using: &generator)
                switch Int.random(in: 0..<4, using: &generator) {
                case 0: bytes.remove(at: place)
                case 1: bytes[place] = UInt8.random(in: 0x20...0x7E, using: &generator)
                case 2: bytes.insert(contentsOf: (tokens.randomElement(using: &generator) ?? "").utf8, at: place)
                default: bytes += bytes[place...]
                }
            }
            var changed = request
            changed.headerFields.set(name, to: String(decoding: bytes, as: UTF8.self))
            guard let parameters = try? await verifier.verify(changed, at: Self.now) else { continue }
            accepted += 1
            #expect(parameters == expected, "\(String(decoding: bytes, as: UTF8.self))")
        }
        #expect(accepted < 300)
    }

    @Test func labelsAndTags() async throws {
        let key = try Self.key()
        var signer = Self.signer(key)
        signer.tag = "app"
        var request = try signer.signed(MessageVectorTests.request(), at: Self.now)
        #expect(throws: MessageSignatureError.self) { try signer.signed(request, at: Self.now) }
        (signer.label, signer.components) = ("other", [.method])
        request = try signer.signed(request, at: Self.now)
        var verifier = Self.verifier(key)
        verifier.tag = "app"
        #expect(try await verifier.verify(request, at: Self.now).components == [.method, .path])
        verifier.label = "other"
        await Self.refuses(request, verifier, because: "doesn't cover \"@path\"")
        verifier.label = "third"
        await Self.refuses(request, verifier, because: "required label")
        (verifier.label, verifier.tag) = (nil, "other")
        await Self.refuses(request, verifier, because: "tag")
        signer.label = "Not a label"
        #expect(throws: MessageSignatureError.self) { try signer.signed(request, at: Self.now) }
    }

    // MARK: Values of components

    private static func value(
        _ component: SignatureComponent, _ request: HTTPRequest
    ) throws(MessageSignatureError) -> String {
        guard let value = try SignedMessage(request: request).value(of: component) else {
            throw MessageSignatureError("missing")
        }
        return value
    }

    @Test func derivedComponents() throws {
        func request(_ scheme: String, _ authority: String, _ path: String?) -> HTTPRequest {
            HTTPRequest(method: .options, scheme: scheme, authority: authority, path: path)
        }
        let plain = request("HTTPS", "Example.com:443", "/a/../b%2f?")
        #expect(try Self.value(.scheme, plain) == "https")
        #expect(try Self.value(.authority, plain) == "example.com")
        #expect(try Self.value(.path, plain) == "/a/../b%2f")
        #expect(try Self.value(.query, plain) == "?")
        #expect(try Self.value(.requestTarget, plain) == "/a/../b%2f?")
        #expect(try Self.value(.targetURI, plain) == "https://Example.com:443/a/../b%2f?")
        #expect(try Self.value(.authority, request("http", "[fe80::1%25eth0]:80", "/")) == "[fe80::1]")
        #expect(try Self.value(.authority, request("http", "a:443", "/")) == "a:443")
        #expect(try Self.value(.query, request("http", "a", "/")) == "?")
        #expect(try Self.value(.path, request("http", "a", "?a=b")) == "/")
        #expect(try Self.value(.query, request("http", "a", "?a=b")) == "?a=b")
        #expect(try Self.value(.targetURI, request("http", "a", "*")) == "http://a")
        // A combining accent after the question mark doesn't hide the query.
        #expect(throws: MessageSignatureError.self) { try Self.value(.query, request("http", "a", "/?\u{301}a=b")) }
        #expect(throws: MessageSignatureError.self) { try Self.value(.status, plain) }
    }

    @Test func queryParameters() throws {
        let request = MessageVectorTests.request(
            .get,
            "/parameters?var=this%20is%20a%20big%0Amultiline%20value&bar=with+plus+whitespace&fa%C3%A7ade%22%3A%20=something&a=1&a=2&e=&n"
        )
        #expect(try Self.value(.queryParameter("var"), request) == "this%20is%20a%20big%0Amultiline%20value")
        #expect(try Self.value(.queryParameter("bar"), request) == "with%20plus%20whitespace")
        #expect(try Self.value(.queryParameter("façade\": "), request) == "something")
        #expect(try Self.value(.queryParameter("e"), request) == "")
        #expect(try Self.value(.queryParameter("n"), request) == "")
        #expect(
            SignatureComponent.queryParameter("façade\": ").description
                == #""@query-param";name="fa%C3%A7ade%22%3A%20""#)
        for name in ["a", "missing"] {
            #expect(throws: MessageSignatureError.self) { try Self.value(.queryParameter(name), request) }
        }
    }

    @Test func fields() throws {
        let request = MessageVectorTests.request(fields: [
            ("X-OWS-Header", "Leading and trailing whitespace."), ("X-Obs-Fold", "Obsolete\n    line folding. "),
            ("Cache-Control", "max-age=60"), ("Cache-Control", "   must-revalidate"), ("X-Empty", ""),
            ("Example-Dict", " a=1,    b=2;x=1;y=2,   c=(a   b   c)"), ("Example-Dict", "d"), ("X-Umlaut", "ä"),
            ("X-Bytes", "value, with, lots"), ("X-Bytes", "of, commas"), ("Set-Cookie", "a=1"), ("Set-Cookie", "b=2"),
        ])
        #expect(try Self.value("x-ows-header", request) == "Leading and trailing whitespace.")
        #expect(try Self.value("x-obs-fold", request).filter { $0 != " " } == "Obsoletelinefolding.")
        #expect(try Self.value("cache-control", request) == "max-age=60, must-revalidate")
        #expect(try Self.value("x-empty", request) == "")
        #expect(try Self.value("example-dict", request) == "a=1,    b=2;x=1;y=2,   c=(a   b   c), d")
        #expect(try Self.value(.structuredField("example-dict"), request) == "a=1, b=2;x=1;y=2, c=(a b c), d")
        #expect(try Self.value(.member("a", of: "example-dict"), request) == "1")
        #expect(try Self.value(.member("d", of: "example-dict"), request) == "?1")
        #expect(try Self.value(.member("b", of: "example-dict"), request) == "2;x=1;y=2")
        #expect(try Self.value(.member("c", of: "example-dict"), request) == "(a b c)")
        #expect(try Self.value(.bytesOfField("x-bytes"), request) == ":dmFsdWUsIHdpdGgsIGxvdHM=:, :b2YsIGNvbW1hcw==:")
        #expect(try Self.value(.bytesOfField("x-umlaut"), request) == ":w6Q=:")
        #expect(try Self.value(.bytesOfField("set-cookie"), request) == ":YT0x:, :Yj0y:")
        for component: SignatureComponent in [
            "x-missing", "x-umlaut", "set-cookie", .structuredField("x-ows-header"), .member("z", of: "example-dict"),
            SignatureComponent("x-bytes", [.bytes, .structured]), SignatureComponent("x-bytes", [.bytes, .key("a")]),
            SignatureComponent("x-bytes", [.trailer]), SignatureComponent("@method", [.structured]),
        ] {
            #expect(throws: MessageSignatureError.self, "\(component)") { try Self.value(component, request) }
        }
    }

    @Test func contentDigests() throws {
        func fields(_ value: String) -> HTTPFields {
            var fields = HTTPFields()
            fields.set("Content-Digest", to: value)
            return fields
        }
        let body = Data("hello".utf8)
        let signature = SignatureParameters(components: [.contentDigest])
        let (sha256, sha512) = (try ContentDigest.sha256.value(for: body), try ContentDigest.sha512.value(for: body))
        for value in [sha256, sha512, "\(sha256), \(sha512)", "md5=:AAAA:, \(sha256)"] {
            try MessageVerifier.verifyContent(body, of: fields(value), coveredBy: signature)
        }
        let wrong = try ContentDigest.sha512.value(for: Data())
        for value in [
            wrong, "\(sha256), \(wrong)", "md5=:XUFAKrxLKna5cZ2REBfFkg==:", "", "sha-256", "sha-256=\"x\"",
            "sha-256=::",
            "\(sha256), \(sha256)", "sha-256=:LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ",
        ] {
            #expect(throws: MessageSignatureError.self, "\(value)") {
                try MessageVerifier.verifyContent(body, of: fields(value), coveredBy: signature)
            }
        }
        #expect(throws: MessageSignatureError.self) {
            try MessageVerifier.verifyContent(body, of: HTTPFields(), coveredBy: signature)
        }
        // A digest that the signature doesn't cover proves nothing.
        let both = fields("\(sha256), md5=:AAAA:")
        for component in [.contentDigest, SignatureComponent.member("sha-256", of: "Content-Digest")] {
            try MessageVerifier.verifyContent(
                body, of: both, coveredBy: SignatureParameters(components: ["date", component]))
        }
        for component: SignatureComponent in [
            "date", .member("md5", of: "Content-Digest"), .member("sha-512", of: "Content-Digest"),
            .contentDigest.ofRequest,
        ] {
            #expect(throws: MessageSignatureError.self) {
                try MessageVerifier.verifyContent(
                    body, of: both, coveredBy: SignatureParameters(components: [component]))
            }
        }
    }
}
