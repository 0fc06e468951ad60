import AfarTestServer
import ArgumentParser
import Foundation
import TestServers
import Testing

@testable import AfarCLI

/// `--silent` and `--show-error`.
@Suite(.timeLimit(.minutes(10))) struct MessageTests {
    @Test func silentHidesErrorsAndNotes() async throws {
        let server = try await TestServer.start()
        let (missing, form) = (server.url("/status/404").absoluteString, server.url("/post").absoluteString)
        let port = try ClosedPort()
        let folder = try ScratchDirectory()
        for arguments in [["-fs", missing], ["-s", "-d", "{}", form], ["download", "-s", missing]] {
            let outcome = try await Tool.run(arguments, directory: folder.url)
            #expect(outcome.errors == "" && (outcome.status != 0) == !arguments.contains(form), "\(outcome.errors)")
        }
        for arguments in [["-sS", port.url.absoluteString], ["-s", "ftp://x"]] {
            let outcome = try await Tool.run(arguments)
            #expect(outcome.status != 0 && outcome.errors.hasPrefix("afar: "), "\(arguments)")
        }
        let warned = try await Tool.run("-sk", "https://localhost:\(port.url.port ?? 0)/")
        #expect(warned.errors.hasPrefix("afar: WARNING: ") && warned.errors.split(separator: "\n").count == 1)
        await server.stop()
    }

    @Test(arguments: ["-sS", "-fsS", "-fsSL", "-sSL"]) func flagsCanBeJoined(flags: String) throws {
        let command = try RequestCommand<Get>.parse([flags, "x"])
        #expect(command.messages.silent && command.messages.showError)
    }
}
