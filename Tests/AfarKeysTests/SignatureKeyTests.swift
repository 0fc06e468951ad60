import Foundation
import Testing

@testable import AfarKeys

@Suite(.timeLimit(.minutes(5))) struct SignatureKeyTests {
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
        #expect(signature.starts(with: [0x92, 0xA0, 0x09, 0xA9, 0xF0, 0xD4, 0xCA, 0xB8]))
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
        let key = try SignatureKey.generate(.ecdsaP256SHA256)
        let (pem, publicPEM) = (try key.privateKeyPEM(), try key.publicKeyPEM())
        for algorithm in SignatureAlgorithm.allCases where algorithm != .ecdsaP256SHA256 {
            #expect(throws: SignatureKeyError.self) { try SignatureKey(privateKeyPEM: pem, algorithm: algorithm) }
            #expect(throws: SignatureKeyError.self) {
                try SignatureKey(publicKeyPEM: publicPEM, algorithm: algorithm)
            }
        }
        #expect(throws: SignatureKeyError.self) {
            try SignatureKey(publicKeyPEM: pem, algorithm: .ecdsaP256SHA256)
        }
        #expect(throws: SignatureKeyError.self) { try SignatureKey(privateKeyPEM: "", algorithm: .ed25519) }
        #expect(throws: SignatureKeyError.self) { try SignatureKey(secret: Data(repeating: 1, count: 15)) }
    }

    @Test(arguments: SignatureAlgorithm.allCases.filter { $0 != .hmacSHA256 })
    func privateKeysAreWrittenAndRead(algorithm: SignatureAlgorithm) throws {
        let key = try SignatureKey.generate(algorithm)
        let copy = try SignatureKey(privateKeyPEM: key.privateKeyPEM(), algorithm: algorithm)
        let message = Data("message".utf8)
        #expect(try key.publicKey().isValid(copy.signature(for: message), for: message))
        #expect(try copy.publicJWK() == key.publicKey().publicJWK())
        #expect(throws: SignatureKeyError.self) { try key.publicKey().privateKeyPEM() }
    }

    @Test func descriptionsDontContainKeys() throws {
        let secret = Data("a secret of more than 16 bytes".utf8)
        for key in [try SignatureKey(secret: secret), try .generate(.ed25519), try .generate(.ecdsaP256SHA256)] {
            var text = "\(key) \(String(reflecting: key))"
            dump(key, to: &text)
            for hidden in ["a secret", "61 20 73", "97, 32", secret.base64EncodedString(), "PRIVATE KEY"] {
                #expect(!text.contains(hidden), "\(key.algorithm): \(hidden)")
            }
        }
        let shared = try SignatureKey(secret: secret)
        #expect(throws: SignatureKeyError.self) { try shared.privateKeyPEM() }
        #expect(throws: SignatureKeyError.self) { try shared.publicJWK() }
    }

    // MARK: JSON Web Keys

    /// The keys of RFC 8037, appendix A.2, and RFC 7515, appendix A.3.
    @Test func publishedJWKs() throws {
        let edwards = try SignatureKey(
            rawPrivateKey: #require(Data(base64Encoded: "nWGxne/9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A=")),
            algorithm: .ed25519)
        #expect(
            try edwards.publicJWK()
                == ["kty": "OKP", "crv": "Ed25519", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"])
        #expect(edwards.jwsAlgorithm == "EdDSA")
        let scalar = try #require(Data(base64Encoded: "jpsQnnGQmL+YBIffH1136cspYG6+0iY7X1fCE9+E9LI="))
        let elliptic = try SignatureKey(rawPrivateKey: scalar, algorithm: .ecdsaP256SHA256)
        #expect(
            try elliptic.publicJWK() == [
                "kty": "EC", "crv": "P-256", "x": "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
                "y": "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0",
            ])
        #expect(elliptic.jwsAlgorithm == "ES256")
    }

    /// Compares the numbers of an RSA key with those that OpenSSL's command prints.
    @Test func jwksOfRSAKeys() throws {
        let pem = openssl("genrsa", "2048")
        let modulus = openssl("rsa", "-noout", "-modulus", input: pem).dropFirst("Modulus=".count).lowercased()
        let key = try SignatureKey(privateKeyPEM: pem, algorithm: .rsaPKCS1SHA256)
        let members = try key.publicJWK()
        let bytes = try #require(
            Data(base64Encoded: (members["n"] ?? "").replacing("-", with: "+").replacing("_", with: "/") + "=="))
        #expect(bytes.count == 256)
        #expect(bytes.map { String(format: "%02x", $0) }.joined() + "\n" == modulus)
        #expect(members["e"] == "AQAB" && members["kty"] == "RSA" && members.count == 3)
        let open = try SignatureKey(
            publicKeyPEM: openssl("rsa", "-RSAPublicKey_out", input: pem), algorithm: .rsaPKCS1SHA256)
        #expect(try open.publicJWK() == members)
        let pss = try SignatureKey(privateKeyPEM: pem, algorithm: .rsaPSSSHA512)
        #expect(try pss.publicJWK() == members && pss.jwsAlgorithm == "PS512")
    }

    /// A public key in PEM form can contain a compressed point.
    @Test func compressedPoints() throws {
        let pem = openssl("genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-384")
        let compressed = openssl("ec", "-pubout", "-conv_form", "compressed", input: pem)
        let key = try SignatureKey(privateKeyPEM: pem, algorithm: .ecdsaP384SHA384)
        let open = try SignatureKey(publicKeyPEM: compressed, algorithm: .ecdsaP384SHA384)
        #expect(try open.publicJWK() == key.publicJWK())
        #expect(open.jwsAlgorithm == "ES384")
    }

    @Test func unusablePrivateKeys() throws {
        let encrypted = openssl(
            "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-aes128", "-pass", "pass:word")
        #expect(encrypted.contains("ENCRYPTED"))
        for pem in ["-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n", encrypted] {
            #expect(throws: SignatureKeyError.self) {
                try SignatureKey(privateKeyPEM: pem, algorithm: .ecdsaP256SHA256)
            }
        }
        _ = try SignatureKey(privateKeyPEM: encrypted, algorithm: .ecdsaP256SHA256, passphrase: "word")
        let short = openssl("genrsa", "1024")
        #expect(throws: SignatureKeyError.self) { try SignatureKey(privateKeyPEM: short, algorithm: .rsaPKCS1SHA256) }
    }

    /// Runs OpenSSL's command and returns its output.
    private func openssl(_ arguments: String..., input: String = "") -> String {
        let process = Process()
        let (source, output) = (Pipe(), Pipe())
        process.executableURL = URL(filePath: "/usr/bin/openssl")
        process.arguments = arguments
        process.standardInput = source
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return "" }
        try? source.fileHandleForWriting.write(contentsOf: Data(input.utf8))
        try? source.fileHandleForWriting.close()
        let data = try? output.fileHandleForReading.readToEnd()
        process.waitUntilExit()
        return String(decoding: data ?? Data(), as: UTF8.self)
    }
}
