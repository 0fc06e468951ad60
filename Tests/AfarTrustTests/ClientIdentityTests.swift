import AfarTrust
import Foundation
import TestServers
import Testing

@Suite struct ClientIdentityTests {
    private let certificates: TestCertificates

    init() throws { certificates = try TestCertificates.shared.get() }

    @Test func formsAreTheSame() throws {
        let own = try ClientIdentity(
            certificateFile: certificates.file("client-a.crt"), keyFile: certificates.file("client-a.key"))
        #expect(own.certificate.subject == "CN=client-a" && own.intermediates.isEmpty)
        let archive = try ClientIdentity(pkcs12: certificates.data("client-a.p12"), passphrase: "secret")
        #expect(
            archive.certificate == own.certificate && archive.intermediates.map(\.subject) == ["CN=Afar Test Authority"]
        )
        let der = try ClientIdentity(
            certificates: certificates.data("client-a.der"), privateKey: certificates.data("client-a.key.der"))
        #expect(der == own)
        let encrypted = try ClientIdentity(
            certificates: certificates.data("client-a.crt"), privateKey: certificates.data("client-a.encrypted.key"),
            passphrase: "secret")
        #expect(encrypted == own)
    }

    @Test func errorsDescribeTheProblem() throws {
        let crt = try certificates.data("client-a.crt")
        let key = try certificates.data("client-a.key")
        let encrypted = try certificates.data("client-a.encrypted.key")
        let archive = try certificates.data("client-a.p12")
        #expect(throws: CertificateError.keyMismatch) {
            try ClientIdentity(certificates: crt, privateKey: certificates.data("client-b.key"))
        }
        for passphrase in [nil, "", "wrong"] {
            #expect(throws: CertificateError.wrongPassphrase) {
                try ClientIdentity(certificates: crt, privateKey: encrypted, passphrase: passphrase)
            }
        }
        #expect(throws: CertificateError.wrongPassphrase) { try ClientIdentity(pkcs12: archive, passphrase: "wrong") }
        for bytes in [Data(), archive.prefix(100), crt] {
            #expect(throws: CertificateError.self) { try ClientIdentity(pkcs12: bytes, passphrase: "secret") }
        }
        for bytes in [Data(), Data("no key".utf8), crt] {
            #expect(throws: CertificateError.self) { try ClientIdentity(certificates: crt, privateKey: bytes) }
        }
        #expect(throws: CertificateError.self) { try ClientIdentity(certificates: key, privateKey: key) }
        #expect(throws: CertificateError.self) {
            try ClientIdentity(certificateFile: certificates.file("missing"), keyFile: nil)
        }
    }

    @Test func descriptionsHideTheKey() throws {
        let identity = try ClientIdentity(pkcs12: certificates.data("client-a.p12"), passphrase: "secret")
        var dumped = ""
        dump(identity, to: &dumped)
        for text in ["\(identity)", String(reflecting: identity), dumped, "\(["identity": identity])"] {
            #expect(text.contains("client-a") && !text.contains("PRIVATE") && !text.contains("privateKey"))
        }
    }
}
