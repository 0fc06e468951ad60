import AfarTransport
import Foundation
import HTTPTypes
import Testing

@testable import AfarSignatures

/// Secrets in descriptions, logs and requests.
@Suite struct SecretsTests {
    @Test func descriptionsDontContainSecrets() throws {
        let secret = Data("a secret of more than 16 bytes".utf8)
        let credentials = AWSCredentials(
            accessKeyID: "AKID", secretAccessKey: "SECRETSECRET", sessionToken: "TOKENTOKEN")
        let values: [Any] = [
            credentials,
            AWSSigningStage(AWSSigner(region: "r", service: "s"), credentials: credentials),
            MessageSigningStage(
                MessageSigner(key: try SignatureKey(secret: secret), keyID: nil, components: [.method])),
            try SigningKey(credentials, AWSSigner(region: "r", service: "s"), at: Date()),
        ]
        for value in values {
            var text = "\(value) \(String(reflecting: value))"
            dump(value, to: &text)
            for hidden in [
                "SECRETSECRET", "TOKENTOKEN", "a secret", "61 20 73", "97, 32", secret.base64EncodedString(),
            ] {
                #expect(!text.contains(hidden), "\(type(of: value)): \(hidden)")
            }
        }
    }

    /// Logs and commands hide the fields and parameters that contain secrets.
    @Test func signaturesAreRedacted() throws {
        for name in ["Authorization", "Signature", "Signature-Input", "X-Amz-Security-Token", "X-Amz-Signature"] {
            #expect(Redaction.isSensitive(name), "\(name)")
        }
        let credentials = AWSCredentials(accessKeyID: "AKID", secretAccessKey: "SECRET", sessionToken: "TOKEN")
        var signer = AWSSigner(region: "us-east-1", service: "s3")
        for signsToken in [true, false] {
            signer.signsSessionToken = signsToken
            let url = try signer.presignedURL(
                for: #require(URL(string: "https://example.com/")), expiresIn: 60, with: credentials)
            let signature = try #require(url.absoluteString.firstMatch(of: /X-Amz-Signature=([0-9a-f]{64})/)?.1)
            #expect(url.absoluteString.contains("TOKEN") && !url.absoluteString.contains("SECRET"))
            #expect(!Redaction.standard.url(url.absoluteString).contains(signature))
            #expect(!Redaction.standard.url(url.absoluteString).contains("TOKEN"))
        }
    }

    /// A few services expect a token that isn't signed.
    @Test func unsignedTokens() throws {
        let request = HTTPRequest(method: .get, scheme: "https", authority: "example.com", path: "/")
        var signer = AWSSigner(region: "us-east-1", service: "iotdevicegateway")
        signer.signsSessionToken = false
        let date = Date(timeIntervalSince1970: 1_440_938_160)
        let plain = AWSCredentials(accessKeyID: "AKID", secretAccessKey: "SECRET")
        let temporary = AWSCredentials(accessKeyID: "AKID", secretAccessKey: "SECRET", sessionToken: "TOKEN")
        let (first, second) = (
            try signer.signed(request, with: plain, at: date), try signer.signed(request, with: temporary, at: date)
        )
        #expect(first.headerFields[.authorization] == second.headerFields[.authorization])
        #expect(second.headerFields.value("X-Amz-Security-Token") == "TOKEN")
        let url = try #require(URL(string: "https://example.com/"))
        let (third, fourth) = (
            try signer.presignedURL(for: url, expiresIn: 60, with: plain, at: date).absoluteString,
            try signer.presignedURL(for: url, expiresIn: 60, with: temporary, at: date).absoluteString
        )
        #expect(
            third.replacingOccurrences(of: "&X-Amz-Signature", with: "&X-Amz-Security-Token=TOKEN&X-Amz-Signature")
                == fourth)
    }
}
