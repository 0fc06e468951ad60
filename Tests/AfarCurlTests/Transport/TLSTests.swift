import AfarCore
import AfarTestServer
import Foundation
import HTTPTypes
import Testing

@testable import AfarCurl

extension TransportTests {
    @Suite struct TLSTests {
        private func withTLSServer(
            _ certificate: TLSServer.Certificate, arguments: [String] = [],
            _ body: (TLSServer, any TestableTransport) async throws -> Void
        ) async throws {
            let server = try await TLSServer(certificate, arguments: arguments)
            defer { server.stop() }
            try await body(server, makeTransport { $0.certificateBundle = server.authority })
        }

        @Test func aTrustedCertificateIsAccepted() async throws {
            try await withTLSServer(.good) { server, transport in
                for _ in 0..<2 {
                    let response = try await transport.send(Exchange(server.url))
                    #expect(response.head.status == 200)
                    #expect(try response.text.contains("TLSv1.3"))
                    let metrics = try #require(response.report.transactions.first)
                    let moments = try [
                        metrics.connectStartDate, metrics.secureConnectionStartDate, metrics.secureConnectionEndDate,
                        metrics.requestStartDate, metrics.responseStartDate,
                    ].map { moment in try #require(moment) }
                    #expect(zip(moments, moments.dropFirst()).allSatisfy { $0 <= $1 }, "\(moments)")
                    #expect(moments[1] < moments[2])
                    #expect(metrics.secureConnectionEndDate == metrics.connectEndDate)
                }
            }
        }

        @Test(arguments: [
            (TLSServer.Certificate.expired, TransportError.Code.certificateHasBadDate),
            (.future, .certificateNotYetValid),
            (.wrongHost, .certificateUntrusted), (.selfSigned, .certificateHasUnknownRoot),
        ])
        func aBadCertificateIsRejected(_ certificate: TLSServer.Certificate, _ code: TransportError.Code) async throws {
            try await withTLSServer(certificate) { server, transport in
                let error = try await transportError { try await transport.send(Exchange(server.url)) }
                #expect(error.code == code, "\(error)")
                #expect(error.phase == .tlsHandshake)
                #expect(error.peer != nil)
                try await withServer { plain in
                    let response = try await transport.send(Exchange(plain.url("/get")))
                    #expect(response.head.status == 200)
                }
            }
        }

        @Test func aPrivateAuthorityIsNotTrustedByItself() async throws {
            try await withTLSServer(.good) { server, _ in
                let error = try await transportError { try await makeTransport().send(Exchange(server.url)) }
                #expect(error.code == .certificateHasUnknownRoot)
            }
        }

        @Test func aMissingBundleTrustsNoServer() async throws {
            try await withTLSServer(.good) { server, _ in
                let transport = makeTransport { $0.certificateBundle = URL(fileURLWithPath: "/nonexistent.pem") }
                let error = try await transportError { try await transport.send(Exchange(server.url)) }
                #expect(error.code == .secureConnectionFailed)
            }
        }

        @Test func oldVersionsAreRejected() async throws {
            try await withTLSServer(.good, arguments: ["-tls1_1", "-cipher", "ALL:@SECLEVEL=0"]) { server, transport in
                let error = try await transportError { try await transport.send(Exchange(server.url)) }
                #expect(error.code == .secureConnectionFailed)
                #expect(error.phase == .tlsHandshake)
            }
        }

        @Test func theMinimumVersionIsConfigurable() async throws {
            try await withTLSServer(.good, arguments: ["-tls1_2"]) { server, transport in
                let exchange = Exchange(server.url)
                #expect(try await transport.send(exchange).head.status == 200)
                let error = try await transportError {
                    try await transport.send(exchange.with { $0.minimumTLSVersion = .v13 })
                }
                #expect(error.code == .secureConnectionFailed)
            }
        }

        @Test func aServerWithoutTLSFails() async throws {
            let plain: [RawServer.Step] = [.receive(10), .send("HTTP/1.1 400 Bad Request\r\n\r\n"), .receiveAll]
            try await withRawServer(plain, [.respond("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")]) { server in
                let url = try #require(URL(string: "https://127.0.0.1:\(server.port)/"))
                let transport = makeTransport()
                let error = try await transportError { try await transport.send(Exchange(url)) }
                #expect(error.code == .secureConnectionFailed)
                #expect(error.phase == .tlsHandshake)
                #expect(try await transport.send(Exchange(server.url)).head.status == 200)
            }
        }

        @Test func aSilentServerTriggersTheConnectTimeout() async throws {
            try await withRawServer([.waitForever]) { server in
                let url = try #require(URL(string: "https://127.0.0.1:\(server.port)/"))
                let exchange = Exchange(url).with { $0.connectTimeout = 0.5 }
                let error = try await transportError { try await makeTransport().send(exchange) }
                #expect(error.code == .timedOut)
                #expect(error.phase == .tlsHandshake)
                try await server.peerClosed(0)
            }
        }
    }
}
