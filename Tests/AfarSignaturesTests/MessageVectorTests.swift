import AfarTransport
import Foundation
import HTTPTypes
import Testing

@testable import AfarSignatures

/// The test cases of RFC 9421, appendix B.
@Suite struct MessageVectorTests {
    static let date = Date(timeIntervalSince1970: 1_618_884_473)

    static func request(
        _ method: HTTPRequest.Method = .post, _ path: String = "/foo?param=Value&Pet=dog",
        authority: String = "example.com", fields: [(String, String)] = requestFields
    ) -> HTTPRequest {
        var request = HTTPRequest(method: method, scheme: "https", authority: authority, path: path)
        for (name, value) in fields { request.headerFields.add(name, value) }
        return request
    }

    static let requestFields = [
        ("Date", "Tue, 20 Apr 2021 02:07:55 GMT"), ("Content-Type", "application/json"),
        (
            "Content-Digest",
            "sha-512=:WZDPaVn/7XgHaAy8pmojAkGWoRx2UFChF41A2svX+TaPm+AbwAgBWnrIiYllu7BNNyealdVLvRwEmTHWXvJwew==:"
        ), ("Content-Length", "18"),
    ]

    static func key(_ name: String) throws -> SignatureKey? {
        switch name {
        case "test-key-rsa-pss": try SignatureKey(publicKeyPEM: PublishedKeys.rsaPSSPublic, algorithm: .rsaPSSSHA512)
        case "test-key-ecc-p256": try SignatureKey(publicKeyPEM: PublishedKeys.p256Public, algorithm: .ecdsaP256SHA256)
        case "test-key-ed25519": try SignatureKey(publicKeyPEM: PublishedKeys.ed25519Public, algorithm: .ed25519)
        case "test-shared-secret": try secret()
        default: nil
        }
    }

    static func secret() throws -> SignatureKey {
        try SignatureKey(secret: #require(Data(base64Encoded: PublishedKeys.secret)))
    }

    static func verifier(_ components: [SignatureComponent]) -> MessageVerifier {
        var verifier = MessageVerifier(
            components: components, algorithms: Set(SignatureAlgorithm.allCases), maximumAge: 60, nonces: nil
        ) { try key($0.keyID ?? "") }
        verifier.requiredIfPresent = []
        return verifier
    }

    static let cases: [(name: String, input: String, signature: String, component: SignatureComponent)] = [
        (
            "sig-b22",
            #"("@authority" "content-digest" "@query-param";name="Pet");created=1618884473;keyid="test-key-rsa-pss";tag="header-example""#,
            "LjbtqUbfmvjj5C5kr1Ugj4PmLYvx9wVjZvD9GsTT4F7GrcQEdJzgI9qHxICagShLRiLMlAJjtq6N4CDfKtjvuJyE5qH7KT8UCMkSowOB4+ECxCmT8rtAmj/0PIXxi0A0nxKyB09RNrCQibbUjsLS/2YyFYXEu4TRJQzRw1rLEuEfY17SARYhpTlaqwZVtR8NV7+4UKkjqpcAoFqWFQh62s7Cl+H2fjBSpqfZUJcsIk4N6wiKYd4je2U/lankenQ99PZfB4jY3I5rSV2DSBVkSFsURIjYErOs0tFTQosMTAoxk//0RoKUqiYY8Bh0aaUEb0rQl3/XaVe4bXTugEjHSw==",
            .queryParameter("Pet")
        ),
        (
            "sig-b23",
            #"("date" "@method" "@path" "@query" "@authority" "content-type" "content-digest" "content-length");created=1618884473;keyid="test-key-rsa-pss""#,
            "bbN8oArOxYoyylQQUU6QYwrTuaxLwjAC9fbY2F6SVWvh0yBiMIRGOnMYwZ/5MR6fb0Kh1rIRASVxFkeGt683+qRpRRU5p2voTp768ZrCUb38K0fUxN0O0iC59DzYx8DFll5GmydPxSmme9v6ULbMFkl+V5B1TP/yPViV7KsLNmvKiLJH1pFkh/aYA2HXXZzNBXmIkoQoLd7YfW91kE9o/CCoC1xMy7JA1ipwvKvfrs65ldmlu9bpG6A9BmzhuzF8Eim5f8ui9eH8LZH896+QIF61ka39VBrohr9iyMUJpvRX2Zbhl5ZJzSRxpJyoEZAFL2FUo5fTIztsDZKEgM4cUA==",
            .query
        ),
        (
            "sig-b25", #"("date" "@authority" "content-type");created=1618884473;keyid="test-shared-secret""#,
            "pxcQw6G3AjtMBQjwo8XzkZf/bws5LelbaMk5rGIGtE8=", "date"
        ),
        (
            "sig-b26",
            #"("date" "@method" "@path" "@authority" "content-type" "content-length");created=1618884473;keyid="test-key-ed25519""#,
            "wqcAqbmYJ2ji2glfAMaRy4gruYYnx2nEFN2HN6jrnDnQCK1u02Gb04v9EDgwUPiu4A0w6vuQv5lIp5WPpBKRCw==", .path
        ),
    ]

    @Test(arguments: cases)
    func requestsAreVerified(
        name: String, input: String, signature: String, component: SignatureComponent
    ) async throws {
        var request = Self.request()
        request.headerFields.set("Signature-Input", to: "\(name)=\(input)")
        request.headerFields.set("Signature", to: "\(name)=:\(signature):")
        let parameters = try await Self.verifier([component]).verify(request, at: Self.date)
        #expect(parameters.created == 1_618_884_473)
        request.method = .put
        request.authority = "example.org"
        await #expect(throws: MessageSignatureError.self) {
            try await Self.verifier([component]).verify(request, at: Self.date)
        }
    }

    /// B.2.1 covers nothing, so no verifier accepts it. Only the signature itself is valid.
    @Test func theMinimalSignatureIsValid() async throws {
        let input = #"();created=1618884473;keyid="test-key-rsa-pss";nonce="b3k2pp5k7z-50gnwp.yemd""#
        let signature =
            "d2pmTvmbncD3xQm8E9ZV2828BjQWGgiwAaw5bAkgibUopemLJcWDy/lkbbHAve4cRAtx31Iq786U7it++wgGxbtRxf8Udx7zFZsckzXaJMkA7ChG52eSkFxykJeNqsrWH5S+oxNFlD4dzVuwe8DhTSja8xxbR/Z2cOGdCbzR72rgFWhzx2VjBqJzsPLMIQKhO4DGezXehhWwE56YCE+O6c0mKZsfxVrogUvA4HELjVKWmAvtl6UnCh8jYzuVG5WSb/QEVPnP5TmcAnLH1g+s++v6d4s8m0gCw1fV5/SITLq9mhho8K3+7EPYTU8IU1bLhdxO5Nyt8C8ssinQ98Xw9Q=="
        let key = try #require(try Self.key("test-key-rsa-pss"))
        let base = Data("\"@signature-params\": \(input)".utf8)
        #expect(key.isValid(try #require(Data(base64Encoded: signature)), for: base))
        var request = Self.request()
        request.headerFields.set("Signature-Input", to: "sig-b21=\(input)")
        request.headerFields.set("Signature", to: "sig-b21=:\(signature):")
        let error = await #expect(throws: MessageSignatureError.self) {
            try await Self.verifier([.method]).verify(request, at: Self.date)
        }
        #expect(error?.description.contains("doesn't cover \"@method\"") == true)
        await #expect(throws: MessageSignatureError.self) {
            try await Self.verifier([]).verify(request, at: Self.date)
        }
    }

    @Test func aResponseIsVerified() async throws {
        var fields = HTTPFields()
        for (name, value) in [
            ("Content-Type", "application/json"),
            (
                "Content-Digest",
                "sha-512=:mEWXIS7MaLRuGgxOBdODa3xqM1XdEvxoYhvlCFJ41QJgJc4GTsPp29l5oGX69wWdXymyU0rjJuahq4l5aGgfLQ==:"
            ), ("Content-Length", "23"),
            (
                "Signature-Input",
                #"sig-b24=("@status" "content-type" "content-digest" "content-length");created=1618884473;keyid="test-key-ecc-p256""#
            ),
            (
                "Signature",
                "sig-b24=:wNmSUAhwb5LxtOtOpNa6W5xj067m5hFrj0XQ4fvpaCLx0NKocgPquLgyahnzDnDAUy5eCdlYUEkLIj+32oiasw==:"
            ),
        ] { fields.set(name, to: value) }
        let head = ResponseHead(status: 200, fields: fields, url: "https://example.com/foo")
        let signature = try await Self.verifier([.status, .contentDigest])
            .verify(head, to: Self.request(), at: Self.date)
        try MessageVerifier.verifyContent(Data(#"{"message": "good dog"}"#.utf8), of: fields, coveredBy: signature)
        #expect(throws: MessageSignatureError.self) {
            try MessageVerifier.verifyContent(Data(#"{"message": "bad dog"}"#.utf8), of: fields, coveredBy: signature)
        }
        let other = ResponseHead(status: 201, fields: fields, url: "https://example.com/foo")
        await #expect(throws: MessageSignatureError.self) {
            try await Self.verifier([.status]).verify(other, to: Self.request(), at: Self.date)
        }
    }

    /// Deterministic algorithms produce the published signatures.
    @Test func requestsAreSigned() throws {
        var signer = MessageSigner(
            key: try Self.secret(), keyID: "test-shared-secret", components: ["date", .authority, "content-type"])
        (signer.addsNonce, signer.namesAlgorithm, signer.label) = (false, false, "sig-b25")
        let first = try signer.signed(Self.request(), at: Self.date)
        #expect(first.headerFields.value("Signature") == "sig-b25=:\(Self.cases[2].signature):")
        #expect(first.headerFields.value("Signature-Input") == "sig-b25=\(Self.cases[2].input)")
        signer.key = try SignatureKey(privateKeyPEM: PublishedKeys.ed25519Private, algorithm: .ed25519)
        (signer.label, signer.keyID) = ("sig-b26", "test-key-ed25519")
        signer.components = ["date", .method, .path, .authority, "content-type", "content-length"]
        let second = try signer.signed(Self.request(), at: Self.date)
        #expect(second.headerFields.value("Signature") == "sig-b26=:\(Self.cases[3].signature):")
        #expect(second.headerFields.value("Signature-Input") == "sig-b26=\(Self.cases[3].input)")
    }

    /// B.3: a proxy's signature of a client's certificate.
    @Test func aProxysSignatureIsVerified() async throws {
        let certificate =
            ":MIIBqDCCAU6gAwIBAgIBBzAKBggqhkjOPQQDAjA6MRswGQYDVQQKDBJMZXQncyBBdXRoZW50aWNhdGUxGzAZBgNVBAMMEkxBIEludGVybWVkaWF0ZSBDQTAeFw0yMDAxMTQyMjU1MzNaFw0yMTAxMjMyMjU1MzNaMA0xCzAJBgNVBAMMAkJDMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE8YnXXfaUgmnMtOXU/IncWalRhebrXmckC8vdgJ1p5Be5F/3YC8OthxM4+k1M6aEAEFcGzkJiNy6J84y7uzo9M6NyMHAwCQYDVR0TBAIwADAfBgNVHSMEGDAWgBRm3WjLa38lbEYCuiCPct0ZaSED2DAOBgNVHQ8BAf8EBAMCBsAwEwYDVR0lBAwwCgYIKwYBBQUHAwIwHQYDVR0RAQH/BBMwEYEPYmRjQGV4YW1wbGUuY29tMAoGCCqGSM49BAMCA0gAMEUCIBHda/r1vaL6G3VliL4/Di6YK0Q6bMjeSkC3dFCOOB8TAiEAx/kHSB4urmiZ0NX5r5XarmPk0wmuydBVoU4hBVZ1yhk=:"
        let request = Self.request(
            authority: "service.internal.example",
            fields: [
                ("Client-Cert", certificate),
                (
                    "Signature-Input",
                    #"ttrp=("@path" "@query" "@method" "@authority" "client-cert");created=1618884473;keyid="test-key-ecc-p256""#
                ),
                (
                    "Signature",
                    "ttrp=:xVMHVpawaAC/0SbHrKRs9i8I3eOs5RtTMGCWXm/9nvZzoHsIg6Mce9315T6xoklyy0yzhD9ah4JHRwMLOgmizw==:"
                ),
            ])
        _ = try await Self.verifier(["client-cert", .method]).verify(request, at: Self.date)
    }

    /// B.4: changes that keep or invalidate a signature.
    @Test func transformations() async throws {
        let signature = [
            (
                "Signature-Input",
                #"transform=("@method" "@path" "@authority" "accept");created=1618884473;keyid="test-key-ed25519""#
            ),
            (
                "Signature",
                "transform=:ZT1kooQsEHpZ0I1IjCqtQppOmIqlJPeo7DHR3SoMn0s5JZ1eRGS0A+vyYP9t/LXlh5QMFFQ6cpLt2m0pmj3NDA==:"
            ),
        ]
        let json = ("Accept", "application/json")
        let any = ("Accept", "*/*")
        let path = "/demo?name1=Value1&Name2=value2"
        let valid = [
            Self.request(.get, path, authority: "example.org", fields: [json, any] + signature),
            Self.request(.get, path + "&param=added", authority: "EXAMPLE.org:443", fields: [json, any] + signature),
            Self.request(
                .get, path, authority: "example.org", fields: [("Accept", "application/json, */*")] + signature),
            Self.request(
                .get, path, authority: "proxy.example", fields: signature + [json, any, ("Host", "example.org")]),
        ]
        let verifier = Self.verifier([.method, .path, .authority, "accept"])
        for request in valid { _ = try await verifier.verify(request, at: Self.date) }
        let invalid = [
            Self.request(.post, path, authority: "example.com", fields: [json, any] + signature),
            Self.request(.get, path, authority: "example.org", fields: [any, json] + signature),
        ]
        for request in invalid {
            await #expect(throws: MessageSignatureError.self) { try await verifier.verify(request, at: Self.date) }
        }
    }
}
