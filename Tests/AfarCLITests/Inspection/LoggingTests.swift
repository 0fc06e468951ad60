import AfarTestServer
import Foundation
import Testing

/// Log output that the variable `AFAR_LOG` enables.
struct LoggingTests {
    private let time = #/[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z? afar: /#

    @Test func infoLogsOneLinePerRequest() async throws {
        let server = try await TestServer.start()
        let url = server.url("/bytes/9?token=hush").absoluteString
        let outcome = try await Tool.run("get", url, environment: ["AFAR_LOG": "info"])
        #expect(outcome.status == 0)
        #expect(outcome.output.count == 9)
        let shown = url.replacing("hush", with: "***")
        let line = outcome.errors.replacing(time, with: "T ").replacing(/[0-9.]+ ms/, with: "T ms")
        #expect(line == "T GET \(shown) -> 200, 9 bytes in T ms\n")
        await server.stop()
    }

    @Test func debugLogsEveryStep() async throws {
        let server = try await TestServer.start()
        let url = server.url("/get").absoluteString
        let outcome = try await Tool.run("get", url, "-H", "Cookie: hush", environment: ["AFAR_LOG": "debug"])
        for words in ["] sent: GET \(url)\n", "\n  > Cookie: ***\n", "] response: 200\n", "] GET \(url) -> 200, "] {
            #expect(outcome.errors.contains(words), "\(words)")
        }
        #expect(!outcome.errors.contains("hush"))
        await server.stop()
    }

    @Test func failuresAreLoggedBeforeTheProgramExits() async throws {
        let port = try ClosedPort()
        let outcome = try await Tool.run("get", port.url.absoluteString, environment: ["AFAR_LOG": "INFO"])
        #expect(outcome.status == 3)
        let reported = outcome.errors.split(separator: "\n").filter { $0.contains(" -> no response, ") }
        #expect(reported.count == 1)
        #expect(reported.first?.contains("cannotConnect while connecting") == true)
    }

    @Test func anUnknownLevelIsReportedOnce() async throws {
        let server = try await TestServer.start()
        let url = server.url("/get").absoluteString
        let outcome = try await Tool.run("get", url, environment: ["AFAR_LOG": "loud"])
        #expect(outcome.status == 0)
        #expect(
            outcome.errors.replacing(time, with: "T ")
                == "T AFAR_LOG has the unknown value \"loud\". Set it to info or debug.\n")
        #expect(try await Tool.run("get", url, environment: ["AFAR_LOG": ""]).errors == "")
        #expect(try await Tool.run("get", url).errors == "")
        await server.stop()
    }
}
