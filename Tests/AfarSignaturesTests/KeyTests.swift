import AfarTransport
import Foundation
import HTTPTypes
import Testing

@testable import AfarSignatures

@Suite struct SignatureKeyTests {
    @Test(arguments: SignatureAlgorithm.allCases)
    func generatedKeysSignAndVerify(algorithm: SignatureAlgorithm) throws {
        let key = try SignatureKey.generate(algorithm)
        let message = Data("message".utf8)
        let signature = try key.signature(for: message)
        #expect(key.canSign)
        #expect(key.isValid(signature, for: message))
        #expect(!key.isValid(signature, for: Data("massage".utf8)))
        #expect(!key.isValid(Data(), for: message))
        #expect(!key.isValid(signature.dropLast(), for: message))
        #expect(!key.isValid(signature + [0], for: message))
        var changed = signature
        changed[changed.startIndex] ^= 1
        #expect(!key.isValid(changed, for: message))
        #expect(try !SignatureKey.generate(algorithm).isValid(signature, for: message))
        guard algorithm != .hmacSHA256 else {
            #expect(throws: SignatureKeyError.self) { try key.publicKeyPEM() }
            return
        }
        let open = try key.publicKey()
        #expect(!open.canSign)
        #expect(open.isValid(signature, for: message))
        #expect(throws: SignatureKeyError.self) { try open.signature(for: message) }
        if let size = algorithm.coordinateSize { #expect(signature.count == size * 2) }
    }

    /// A slice of data doesn't start at index 0.
    @Test func slices() throws {
        let secret = Data(repeating: 7, count: 48)
        let message = Data("0123message".utf8)
        let key = try SignatureKey(secret: secret.dropFirst(16))
        let code = try key.signature(for: message.dropFirst(4))
        #expect(try SignatureKey(secret: Data(secret.suffix(32))).isValid(code, for: Data("message".utf8)))
        #expect(key.isValid((Data([1, 2]) + code).dropFirst(2), for: Data("message".utf8)))
        let pair = try SignatureKey.generate(.ecdsaP256SHA256)
        let signature = try pair.signature(for: message)
        #expect(pair.isValid((Data([1, 2]) + signature).dropFirst(2), for: message))
    }

    @Test func rawKeys() throws {
        // RFC 8032, section 7.1, test 2.
        let seed = try #require(Data(base64Encoded: "TM0Imyj/ltqdtsNG7BFOD1uKMZ81q6Yk2oz27U+4pvs="))
        let key = try SignatureKey(rawPrivateKey: seed, algorithm: .ed25519)
        let signature = try key.signature(for: Data([0x72]))
        #expect(signature.hexDigits.hasPrefix("92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"))
        let open = try #require(Data(base64Encoded: "PUAXw+hDiVqStwqnTRt+vJyYLM8uxJaMwM1V8Sr0Zgw="))
        #expect(try SignatureKey(rawPublicKey: open, algorithm: .ed25519).isValid(signature, for: Data([0x72])))
        for (algorithm, size) in [(SignatureAlgorithm.ecdsaP256SHA256, 32), (.ecdsaP384SHA384, 48)] {
            let key = try SignatureKey(rawPrivateKey: Data(repeating: 9, count: size), algorithm: algorithm)
            let signature = try key.signature(for: seed)
            #expect(key.isValid(signature, for: seed))
            #expect(try key.publicKey().isValid(signature, for: seed))
            #expect(throws: SignatureKeyError.self) {
                try SignatureKey(rawPrivateKey: Data(repeating: 0xFF, count: size), algorithm: algorithm)
            }
            #expect(throws: SignatureKeyError.self) {
                try SignatureKey(rawPublicKey: Data([4] + [UInt8](repeating: 1, count: size * 2)), algorithm: algorithm)
            }
            #expect(throws: SignatureKeyError.self) {
                try SignatureKey(rawPrivateKey: seed.dropLast(), algorithm: algorithm)
            }
        }
        #expect(throws: SignatureKeyError.self) { try SignatureKey(rawPrivateKey: seed, algorithm: .rsaPSSSHA512) }
    }

    /// A key for one algorithm can't be used for another.
    @Test func keysHaveOneAlgorithm() throws {
        let pem = PublishedKeys.p256Private
        for algorithm in SignatureAlgorithm.allCases where algorithm != .ecdsaP256SHA256 {
            #expect(throws: SignatureKeyError.self) { try SignatureKey(privateKeyPEM: pem, algorithm: algorithm) }
            #expect(throws: SignatureKeyError.self) {
                try SignatureKey(publicKeyPEM: PublishedKeys.p256Public, algorithm: algorithm)
            }
        }
        #expect(throws: SignatureKeyError.self) {
            try SignatureKey(publicKeyPEM: PublishedKeys.p256Private, algorithm: .ecdsaP256SHA256)
        }
        #expect(throws: SignatureKeyError.self) { try SignatureKey(privateKeyPEM: "", algorithm: .ed25519) }
        #expect(throws: SignatureKeyError.self) { try SignatureKey(secret: Data(repeating: 1, count: 15)) }
        _ = try SignatureKey(publicKeyPEM: PublishedKeys.rsaPublic, algorithm: .rsaPKCS1SHA256)
    }

    @Test func descriptionsDontContainKeys() throws {
        let secret = Data("a secret of more than 16 bytes".utf8)
        let credentials = AWSCredentials(
            accessKeyID: "AKID", secretAccessKey: "SECRETSECRET", sessionToken: "TOKENTOKEN")
        let values: [Any] = [
            try SignatureKey(secret: secret), credentials,
            AWSSigningStage(AWSSigner(region: "r", service: "s"), credentials: credentials),
            MessageSigningStage(
                MessageSigner(key: try SignatureKey(secret: secret), keyID: nil, components: [.method])),
            try SigningKey(credentials, AWSSigner(region: "r", service: "s"), at: Date()),
            try SignatureKey(privateKeyPEM: PublishedKeys.ed25519Private, algorithm: .ed25519),
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
