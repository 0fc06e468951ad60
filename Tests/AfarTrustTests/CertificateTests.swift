import AfarTrust
import Foundation
import TestServers
import Testing

@Suite struct CertificateTests {
    private let certificates: TestCertificates

    init() throws { certificates = try TestCertificates.shared.get() }

    private func certificate(_ name: String) throws -> Certificate {
        try #require(try Certificate.certificates(contentsOf: certificates.file("\(name).crt")).first)
    }

    /// Returns the output of openssl.
    private func openssl(_ arguments: String...) throws -> String {
        let (process, output) = (Process(), Pipe())
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [
            "bash", "-c", "cd \(certificates.folder.path) && openssl " + arguments.joined(separator: " "),
        ]
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        let text = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return String(decoding: text, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    @Test func itsFieldsAreRead() throws {
        let good = try certificate("good")
        #expect(good.subject == "CN=good" && good.issuer == "CN=Afar Test Authority")
        #expect(good.notValidBefore == Date(timeIntervalSince1970: 1_577_836_800))
        #expect(good.notValidAfter == Date(timeIntervalSince1970: 3_786_912_000))
        #expect(
            good.subjectAlternativeNames == [
                .ipAddress("127.0.0.1"), .dns("localhost"), .dns("server.localhost"),
            ])
        #expect(!good.isCertificateAuthority)
        #expect(try certificate("root").isCertificateAuthority)
        #expect(good.publicKey.algorithm == "EC 256 bit")
        #expect(try certificate("good-rsa").publicKey.algorithm == "RSA 2048 bit")
        #expect(try "serial=" + good.serialNumber == openssl("x509 -in good.crt -noout -serial"))
        #expect(good.description.contains("CN=good") && good.description.contains("2090"))
    }

    @Test func aNameWithNULIsNotTruncated() throws {
        #expect(try certificate("nul-in-name").subjectAlternativeNames == [.dns("localhost\0.evil.example")])
    }

    #if os(Linux)
        @Test func unhashableKeysAreNotEqual() throws {
            let key = try certificate("good").publicKey
            try withoutHashFunctions {
                let keys = try ["good", "good", "good-rsa"].map { try certificate($0).publicKey }
                #expect(Set(keys + [key]).count == 4)
                #expect(keys.allSatisfy { $0.sha256.count == 32 })
            }
        }
    #endif

    @Test(arguments: ["good", "good-rsa", "good-p384"]) func pinsMatchOpenSSLs(name: String) throws {
        let hash = try openssl(
            "x509 -in \(name).crt -noout -pubkey | openssl pkey -pubin -outform DER | openssl dgst -sha256 -binary | base64"
        )
        let key = try certificate(name).publicKey
        #expect(key.pin == "sha256//\(hash)")
        let pem = try openssl("x509 -in \(name).crt -noout -pubkey")
        #expect(try PublicKey(Data(pem.utf8)) == key)
        for text in [key.pin, hash, "sha256/\(hash)"] { #expect(try PublicKey(pin: text) == key) }
    }

    @Test func aHashWithALeadingSlashIsParsedCompletely() throws {
        let hash = Data([0xFC] + (1..<32)).base64EncodedString()
        #expect(hash.hasPrefix("/"))
        for prefix in ["", "sha256/", "sha256//"] {
            #expect(try PublicKey(pin: prefix + hash).pin == "sha256//\(hash)")
        }
    }

    @Test(arguments: ["", "sha256//", "sha256//AAAA", "sha1//" + String(repeating: "A", count: 44), "no pin"])
    func invalidPinsAreRejected(text: String) {
        #expect(throws: CertificateError.self) { try PublicKey(pin: text) }
    }

    @Test func pemAndDERAreEquivalent() throws {
        let pem = try String(contentsOf: certificates.file("client-a.crt"), encoding: .utf8)
        let der = try Certificate(derEncoded: certificates.data("client-a.der"))
        #expect(try Certificate.certificates(pemEncoded: pem) == [der])
        #expect(
            try Certificate.certificates(pemEncoded: "text\r\n" + pem.replacing("\n", with: "\r\n") + "more") == [der])
        #expect(try Certificate.certificates(pemEncoded: der.pemEncoded) == [der])
        #expect(try Certificate.certificates(contentsOf: certificates.file("good-chain.pem")).count == 2)
    }

    @Test func invalidCertificatesAreRejected() throws {
        let whole = try certificates.data("client-a.der")
        for bytes in [Data(), Data("text".utf8), whole.dropLast(), Data([0x30, 0x84, 0xFF, 0xFF, 0xFF, 0xFF])] {
            #expect(throws: CertificateError.self) { try Certificate(derEncoded: bytes) }
        }
        for text in [
            "", "-----BEGIN CERTIFICATE-----\nAAAA", "-----BEGIN CERTIFICATE-----\n!!\n-----END CERTIFICATE-----",
        ] {
            #expect(throws: CertificateError.self) { try Certificate.certificates(pemEncoded: text) }
        }
        let missing = certificates.file("missing.crt")
        #expect(throws: CertificateError.self) { try Certificate.certificates(contentsOf: missing) }
    }

    /// Certificates with a modified byte are either rejected or parsed, without a crash.
    @Test func modifiedBytesDoNotCrash() throws {
        let whole = try certificates.data("client-a.der")
        for index in whole.indices {
            for change in [0x01, 0x80, 0xFF] as [UInt8] {
                var bytes = whole
                bytes[index] ^= change
                if let read = try? Certificate(derEncoded: bytes) { #expect(read.derEncoded == bytes) }
            }
        }
    }
}
