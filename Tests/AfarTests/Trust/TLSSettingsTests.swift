import Afar
import AfarCore
import Foundation
import TestServers
import Testing

/// The TLS settings of connections, and the TLS metrics.
@Suite(.timeLimit(.minutes(1))) struct TLSSettingsTests {
    private let certificates: TestCertificates

    init() throws { certificates = try TestCertificates.shared.get() }

    private func session(_ change: (inout HTTPTransport.Configuration) -> Void) -> Session {
        var configuration = HTTPTransport.Configuration()
        configuration.certificateBundle = certificates.authority
        change(&configuration)
        return Session(transport: HTTPTransport(configuration: configuration))
    }

    private func server(_ settings: String = "") async throws -> SecureServer {
        try await SecureServer(certificates, ["good": .init("good")], settings: settings)
    }

    @Test func theCiphersMatchTheLists() async throws {
        let old = try await server("ssl_protocols TLSv1.2;")
        let session = session {
            $0.tlsCipherList = "ECDHE-ECDSA-CHACHA20-POLY1305"
            $0.tls13CipherSuites = "TLS_CHACHA20_POLY1305_SHA256"
        }
        let server = try await server()
        for (url, version, suite, name) in [
            (
                try old.url("good"), tls_protocol_version_t.TLSv12,
                tls_ciphersuite_t.ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256,
                "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256"
            ),
            (try server.url("good"), .TLSv13, .CHACHA20_POLY1305_SHA256, "TLS_CHACHA20_POLY1305_SHA256"),
        ] {
            for _ in 0..<2 {
                let metrics = await session.request(url).serializingString().response.metrics?.transactionMetrics.last
                #expect(metrics?.negotiatedTLSProtocolVersion == version)
                #expect(metrics?.negotiatedTLSCipherSuite == suite)
                #expect(metrics?.tlsCipherSuite == name)
                #expect(metrics?.tlsProtocolVersion == (version == .TLSv12 ? "TLSv1.2" : "TLSv1.3"))
            }
        }
        let wrong = self.session { $0.tlsCipherList = "no such cipher" }
        let error = await wrong.request(try server.url("good")).serializingString().response.error
        #expect((error?.underlyingError as? URLError)?.code == .secureConnectionFailed, "\(String(describing: error))")
    }

    @Test func theMinimumVersionIsEnforced() async throws {
        let old = try await server("ssl_protocols TLSv1.2;")
        var configuration = SessionConfiguration.default
        configuration.tlsMinimumSupportedProtocolVersion = .v13
        configuration.certificateBundle = certificates.authority
        let session = Session(configuration: configuration)
        let error = await session.request(try old.url("good")).serializingString().response.error
        #expect((error?.underlyingError as? URLError)?.code == .secureConnectionFailed)
    }

    @Test func keysAreLoggedOnRequest() async throws {
        let server = try await server()
        let log = FileManager.default.temporaryDirectory.appending(path: "keys-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: log) }
        let session = session { $0.tlsKeyLogFile = log }
        _ = try await session.request(server.url("good")).serializingString().value
        let text = try String(contentsOf: log, encoding: .utf8)
        #expect(text.contains("CLIENT_TRAFFIC_SECRET_0 ") && text.hasSuffix("\n"))
        let mode = try FileManager.default.attributesOfItem(atPath: log.path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        let evaluated = Session(
            configuration: {
                var configuration = SessionConfiguration.default
                configuration.certificateBundle = certificates.authority
                configuration.tlsKeyLogFile = log
                return configuration
            }(), serverTrustManager: ServerTrustManager(evaluators: ["localhost": DefaultTrustEvaluator()]))
        _ = try await evaluated.request(server.url("good")).serializingString().value
        #expect(try String(contentsOf: log, encoding: .utf8).count > text.count)
    }

    @Test func aKeyLogThatCannotBeWrittenFailsRequests() async throws {
        let server = try await server()
        let session = session { $0.tlsKeyLogFile = URL(filePath: "/nonexistent/keys") }
        let error = await session.request(try server.url("good")).serializingString().response.error
        #expect(error?.localizedDescription.contains("/nonexistent/keys") == true)
    }

    @Test func aKeyLogReadableByOthersIsRejected() async throws {
        let server = try await server()
        let folder = FileManager.default.temporaryDirectory.appending(path: "keys-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let (open, pipe) = (folder.appending(path: "open"), folder.appending(path: "pipe"))
        #expect(
            FileManager.default.createFile(atPath: open.path, contents: nil, attributes: [.posixPermissions: 0o644]))
        #expect(mkfifo(pipe.path, 0o600) == 0)
        for file in [open, pipe, folder] {
            let session = session { $0.tlsKeyLogFile = file }
            let error = await session.request(try server.url("good")).serializingString().response.error
            #expect(error?.localizedDescription.contains(file.path) == true, "\(file)")
        }
        #expect(try Data(contentsOf: open).isEmpty)
    }

    @Test(arguments: [true, false]) func withoutAuthoritiesTheErrorNamesThePackage(isEvaluated: Bool) async throws {
        let server = try await server()
        var configuration = SessionConfiguration.default
        configuration.certificateBundle = URL(filePath: "/nonexistent/authorities.pem")
        let manager = ServerTrustManager(evaluators: ["localhost": DefaultTrustEvaluator()])
        let session = Session(configuration: configuration, serverTrustManager: isEvaluated ? manager : nil)
        let error = await session.request(try server.url("good")).serializingString().response.error
        let text = try #require(error?.localizedDescription)
        #expect(text.contains("ca-certificates") && text.contains("/nonexistent/authorities.pem"), "\(text)")
        #expect(try await server.requestBytes(to: "good") == 0)
    }

    @Test func everyHopHasItsRequestAndItsResponse() async throws {
        let server = try await server()
        let session = session { _ in }
        let target = try server.url("good", path: "/end?x=1")
        let start = try server.url("good", path: "/to?\(target)")
        let response = await session.request(start, method: .post, headers: ["X-Mark": "1"]).serializingString()
            .response
        let hops = try #require(response.metrics?.transactionMetrics)
        #expect(hops.map(\.request.url) == [start, target])
        #expect(hops.map(\.request.httpMethod) == ["POST", "GET"])
        #expect(hops.allSatisfy { $0.request.value(forHTTPHeaderField: "X-Mark") == "1" })
        #expect(hops.map { ($0.response as? HTTPURLResponse)?.statusCode } == [302, 200])
        #expect(hops.allSatisfy { $0.resourceFetchType == .networkLoad && $0.requestEndDate != nil })
        #expect(TransactionMetrics().request.url?.absoluteString == "about:blank")
    }

    @Test func theBodysBytesAndItsEndAreMeasured() async throws {
        let server = try await server("client_max_body_size 0;")
        let session = session { _ in }
        let data = Data(count: 3_000_000)
        let response = await session.upload(data, to: try server.url("good")).serializingString().response
        let metrics = try #require(response.metrics?.transactionMetrics.last)
        #expect(metrics.countOfRequestBodyBytesBeforeEncoding == 3_000_000)
        #expect(metrics.countOfRequestBodyBytesSent == 3_000_000)
        #expect(try #require(metrics.requestEndDate) > #require(metrics.requestStartDate))
        #expect(try #require(metrics.responseEndDate) >= #require(metrics.requestEndDate))
    }
}
