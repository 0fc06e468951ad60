import AfarTestServer
import Foundation
import Testing

@Suite(.timeLimit(.minutes(10))) struct InterruptionTests {
    private static let redirect = """
        HTTP/1.1 301 Moved\r\nLocation: /next\r\nSet-Cookie: a=1\r\nCache-Control: max-age=600\r\nContent-Length: 0\r\n\r\n
        """

    private struct NotSaved: Error {}

    /// Returns when a file exists. No event signals this, so the method polls.
    private static func arrival(of file: URL, by process: Int32) async throws {
        while !FileManager.default.fileExists(atPath: file.path) {
            guard kill(process, 0) == 0 else { throw NotSaved() }
            try await Task.sleep(for: .milliseconds(2))
        }
    }

    @Test(arguments: [SIGINT, SIGTERM, SIGHUP]) func everythingIsSaved(signal: Int32) async throws {
        let server = try await RawServer.start([.respond(Self.redirect), .receiveHead, .waitForever])
        let folder = try ScratchDirectory()
        for jar in [["--cookie-jar", "jar"], ["--session", "./session"]] {
            let connection = jar[1] == "jar" ? 0 : 1
            let outcome = try await Tool.run(
                ["get", server.url.absoluteString, "--har", "har", "--record", "record", "--report", "report"] + jar,
                directory: folder.url
            ) { process in
                _ = try await server.head(1, connection: connection)
                kill(process, signal)
            }
            #expect(outcome.status == -signal && outcome.errors == "", "\(outcome.errors)")
        }
        #expect(try folder.names == ["har", "jar", "record", "report", "session"])
        for name in try folder.names { #expect(try folder.contents(of: name).count > 50, "\(name)") }
        #expect(try String(decoding: folder.contents(of: "jar"), as: UTF8.self).contains("a\t1"))
        #expect(try String(decoding: folder.contents(of: "session"), as: UTF8.self).contains(#""value" : "1""#))
        await server.stop()
    }

    @Test func aSecondSignalEndsAHangWhileSaving() async throws {
        let server = try await RawServer.start([.respond(Self.redirect), .receiveHead, .waitForever])
        let folder = try ScratchDirectory()
        // Nothing reads the pipe, so opening it for writing never returns.
        mkfifo(folder.url.appending(path: "report").path, 0o600)
        let jar = folder.url.appending(path: "jar")
        let outcome = try await Tool.run(
            ["get", server.url.absoluteString, "--cookie-jar", "jar", "--report", "report"], directory: folder.url
        ) { process in
            _ = try await server.head(1)
            kill(process, SIGINT)
            try await Self.arrival(of: jar, by: process)
            // Signals that follow the first one at once are ignored.
            while kill(process, SIGTERM) == 0 { try await Task.sleep(for: .milliseconds(100)) }
        }
        #expect(outcome.status == -SIGTERM)
        #expect(try folder.names == ["jar", "report"])
        await server.stop()
    }

    @Test func aSecondSignalEndsAHangInTheEnd() async throws {
        let server = try await TestServer.start()
        let folder = try ScratchDirectory()
        mkfifo(folder.url.appending(path: "report").path, 0o600)
        let jar = folder.url.appending(path: "jar")
        let outcome = try await Tool.run(
            ["get", server.url("/cookies/set?a=1").absoluteString, "--cookie-jar", "jar", "--report", "report"],
            directory: folder.url
        ) { process in
            try await Self.arrival(of: jar, by: process)
            while kill(process, SIGINT) == 0 { try await Task.sleep(for: .milliseconds(100)) }
        }
        #expect(outcome.status == -SIGINT)
        await server.stop()
    }

    @Test func twoSignalsAtOnceSaveEverything() async throws {
        let server = try await RawServer.start([.respond(Self.redirect), .receiveHead, .waitForever])
        let folder = try ScratchDirectory()
        let outcome = try await Tool.run(
            ["get", server.url.absoluteString, "--cookie-jar", "jar", "--report", "report"], directory: folder.url
        ) { process in
            _ = try await server.head(1)
            // "timeout" sends two signals.
            kill(process, SIGTERM)
            kill(process, SIGHUP)
        }
        #expect(outcome.status == -SIGTERM || outcome.status == -SIGHUP)
        #expect(try folder.names == ["jar", "report"])
        await server.stop()
    }
}
