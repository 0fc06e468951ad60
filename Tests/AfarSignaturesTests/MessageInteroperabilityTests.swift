import AfarTransport
import Foundation
import HTTPTypes
import Testing

@testable import AfarSignatures

/// Signatures verify in both directions with PyPI's http-message-signatures.
@Suite(.enabled(if: SigningPeer.isInstalled)) struct MessageInteroperabilityTests {
    private struct Case: Encodable {
        let algorithm: String
        let publicKey: String
        let privateKey: String
        let method: String
        let url: String
        var headers: [[String]]
        let body: String
        let hasDigest: Bool
        var responseHeaders: [[String]] = []
        var status = 200
        var created = 0
        var components: [String] = []
        var nonce: String?
    }

    // http-message-signatures doesn't support ECDSA with P-384.
    private static let algorithms = SignatureAlgorithm.allCases.filter { $0 != .ecdsaP384SHA384 }
    private static let count = min(SigningPeer.count, 1_000)

    /// The keys for both sides. A private key isn't exported, so those of the appendix are used.
    private struct Pair {
        let key: SignatureKey
        let publicText: String
        let privateText: String
    }

    private static func pair(_ algorithm: SignatureAlgorithm) throws -> Pair {
        let text: String
        switch algorithm {
        case .hmacSHA256:
            let key = try MessageVectorTests.secret()
            return Pair(key: key, publicText: PublishedKeys.secret, privateText: PublishedKeys.secret)
        case .ed25519: text = PublishedKeys.ed25519Private
        case .ecdsaP256SHA256, .ecdsaP384SHA384: text = PublishedKeys.p256Private
        case .rsaPSSSHA512, .rsaPKCS1SHA256: text = PublishedKeys.rsaPSSPrivate
        }
        // PyPI's library reads the key for RSASSA-PSS with either algorithm.
        let pem = algorithm == .rsaPKCS1SHA256 ? PublishedKeys.rsaPrivate : text
        let key = try SignatureKey(privateKeyPEM: pem, algorithm: algorithm)
        return Pair(key: key, publicText: try key.publicKeyPEM(), privateText: pem)
    }

    private static func makeRequest(_ generator: inout SeededGenerator) -> (HTTPRequest, [SignatureComponent]) {
        let names = ["name", "käse", "a b", "x+y", "q~*"]
        let name = names.randomElement(using: &generator) ?? ""
        let value = generator.text("abcXYZ 019-._~*+&=/%äé😀", 0...12)
        let query = "\(FormEncoding.encoded(Array(name.utf8)))=\(FormEncoding.encoded(Array(value.utf8)))"
        let paths = ["/", "/a/b", "/a%20b/%C3%A4", "/a//b/../c"]
        var request = HTTPRequest(
            method: [.get, .post, .put].randomElement(using: &generator) ?? .get,
            scheme: generator.flip() ? "https" : "http",
            authority: ["example.com", "example.com:8443", "127.0.0.1:80"].randomElement(using: &generator) ?? "",
            path: "\(paths.randomElement(using: &generator) ?? "/")?\(query)&other=1")
        for number in 0..<Int.random(in: 1...3, using: &generator) {
            let value = generator.text("abc ,;=", 0...8).trimmingCharacters(in: .whitespaces)
            request.headerFields.add("X-Multiple", "\(number)\(value)")
        }
        request.headerFields.set("Priority", to: "u=1,   i, a=(1 \"x\" tok);p=?0;q=1.50")
        var components: [SignatureComponent] = [
            .method, .targetURI, .authority, .scheme, .requestTarget, .path, .query, .queryParameter(name),
            "x-multiple", .bytesOfField("X-Multiple"), .structuredField("priority"), .member("a", of: "priority"),
            .member("i", of: "priority"),
        ]
        components.shuffle(using: &generator)
        return (request, Array(components.prefix(Int.random(in: 1...components.count, using: &generator))))
    }

    @Test(.timeLimit(.minutes(5))) func thePeerVerifiesRequests() throws {
        var generator = SeededGenerator(seed: 9_421)
        let pairs = try Self.algorithms.map { try Self.pair($0) }
        let cases = try (0..<Self.count).map { index -> Case in
            let pair = pairs[index % pairs.count]
            var (request, components) = Self.makeRequest(&generator)
            let body = Data(generator.text("abc{}", 0...40).utf8)
            let hasDigest = generator.flip()
            if hasDigest {
                let digest: ContentDigest = generator.flip() ? .sha256 : .sha512
                request.headerFields.set("Content-Digest", to: try digest.value(for: body))
                components.append(.contentDigest)
            }
            var signer = MessageSigner(key: pair.key, keyID: "key", components: components)
            signer.lifetime = generator.flip() ? 60 : nil
            signer.namesAlgorithm = generator.flip()
            signer.tag = generator.flip() ? "a \"tag\"" : nil
            let signed = try signer.signed(request)
            return Case(
                algorithm: pair.key.algorithm.rawValue, publicKey: pair.publicText, privateKey: pair.privateText,
                method: request.method.rawValue,
                url: "\(request.scheme ?? "")://\(request.authority ?? "")\(request.path ?? "")",
                headers: signed.headerFields.map { [$0.name.rawName, $0.value] }, body: body.base64EncodedString(),
                hasDigest: hasDigest)
        }
        let output = try SigningPeer.run("messages.py", "verify", cases)
        #expect(output.contains("\(cases.count) of \(cases.count) signatures are valid"), "\(output.prefix(600))")
    }

    @Test(.timeLimit(.minutes(5))) func responsesOfThePeerAreVerified() async throws {
        var generator = SeededGenerator(seed: 9_530)
        let pairs = try Self.algorithms.map { try Self.pair($0) }
        let created = 1_700_000_000
        let tests = (0..<Self.count).map { index -> (Case, HTTPRequest, [SignatureComponent]) in
            let pair = pairs[index % pairs.count]
            let (request, requestComponents) = Self.makeRequest(&generator)
            var components = requestComponents.map(\.ofRequest) + [.status]
            if generator.flip() { components += ["content-type", .member("u", of: "priority")] }
            components.shuffle(using: &generator)
            var test = Case(
                algorithm: pair.key.algorithm.rawValue, publicKey: pair.publicText, privateKey: pair.privateText,
                method: request.method.rawValue,
                url: "\(request.scheme ?? "")://\(request.authority ?? "")\(request.path ?? "")",
                headers: request.headerFields.map { [$0.name.rawName, $0.value] },
                body: Data(generator.text("abc{}", 0...40).utf8).base64EncodedString(), hasDigest: generator.flip())
            test.responseHeaders = [["Content-Type", "text/plain"], ["Priority", "u=3;a, i"]]
            test.status = Int.random(in: 200...599, using: &generator)
            (test.created, test.nonce) = (created, "\(index)")
            test.components = components.map(\.description)
            return (test, request, components + (test.hasDigest ? [.contentDigest] : []))
        }
        let output = try SigningPeer.run("messages.py", "sign", tests.map(\.0))
        let responses = try JSONDecoder().decode([[[String]]].self, from: Data(output.utf8))
        #expect(responses.count == tests.count)
        let nonces = NonceStore()
        for ((test, request, components), response) in zip(tests, responses) {
            var fields = HTTPFields()
            for field in response { fields.add(field[0], field[1]) }
            let algorithm = try #require(SignatureAlgorithm(rawValue: test.algorithm))
            let key = try #require(pairs.first { $0.key.algorithm == algorithm }?.key)
            var verifier = MessageVerifier(
                components: components, algorithms: [algorithm], maximumAge: 60, nonces: nonces
            ) { $0.keyID == test.algorithm ? key : nil }
            verifier.requiredIfPresent = []
            let head = ResponseHead(status: test.status, fields: fields, url: test.url)
            let date = Date(timeIntervalSince1970: TimeInterval(created + 1))
            let signature = try await verifier.verify(head, to: request, at: date)
            if test.hasDigest {
                let body = try #require(Data(base64Encoded: test.body))
                try MessageVerifier.verifyContent(body, of: fields, coveredBy: signature)
            }
            await #expect(throws: MessageSignatureError.self, "the nonce was used") {
                try await verifier.verify(head, to: request, at: date)
            }
        }
    }
}
