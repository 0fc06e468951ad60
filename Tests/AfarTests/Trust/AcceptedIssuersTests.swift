import Afar
import Foundation
import TestServers
import Testing

/// The errors about missing client certificates.
@Suite(.timeLimit(.minutes(2))) struct AcceptedIssuersTests {
    private let certificates: TestCertificates

    init() throws { certificates = try TestCertificates.shared.get() }

    private func message(of server: DemandingServer, identity: ClientIdentity? = nil) async throws -> TransportError {
        var configuration = SessionConfiguration.default
        configuration.certificateBundle = certificates.authority
        configuration.clientIdentity = identity
        let session = Session(configuration: configuration)
        let error = await session.request(server.url).serializingString().response.error
        return try #require(error?.transportError, "\(String(describing: error))")
    }

    @Test(arguments: ["-tls1_2", "-tls1_3"]) func aMissingCertificateIsReportedWithTheIssuers(version: String)
        async throws
    {
        let authority = try #require(Certificate.certificates(contentsOf: certificates.authority).first).subject
        let error = try await message(of: DemandingServer(certificates, version))
        #expect(error.code == .clientCertificateRequired)
        #expect(error.message.contains("(it accepts certificates issued by \"\(authority)\")"), "\(error.message)")
    }

    @Test(arguments: ["-tls1_2", "-tls1_3"]) func manyAndStrangeNamesStayShort(version: String) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "issuers-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let all = folder.appending(path: "all.pem")
        var text = ""
        for number in 0..<7 {
            let file = folder.appending(path: "\(number).pem")
            let name = number == 0 ? "\u{1B}[31m\nred" : "Authority \(number) " + String(repeating: "x", count: 40)
            let process = Process()
            process.executableURL = URL(filePath: "/usr/bin/env")
            process.arguments = [
                "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-batch",
                "-keyout", "/dev/null", "-out", file.path, "-days", "2", "-subj", "/CN=\(name)",
            ]
            process.standardError = FileHandle.nullDevice
            try process.run()
            process.waitUntilExit()
            text += try String(contentsOf: file, encoding: .utf8)
        }
        try Data(text.utf8).write(to: all)
        let server = try await DemandingServer(certificates, version, "-CAfile", all.path)
        let error = try await message(of: server)
        #expect(error.code == .clientCertificateRequired)
        #expect(error.message.contains("\"CN=Authority 1 "), "\(error.message)")
        #expect(error.message.contains(" and 2 other authorities)"), "\(error.message)")
        #expect(error.message.unicodeScalars.allSatisfy { $0.value >= 0x20 }, "\(error.message)")
    }
}
