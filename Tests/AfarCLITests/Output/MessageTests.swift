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
        for arguments in [
            ["-s", port.url.absoluteString], ["-fs", missing], ["-s", "-d", "{}", form], ["download", "-s", missing],
        ] {
            let outcome = try await Tool.run(arguments, directory: folder.url)
            #expect(outcome.errors == "" && (outcome.status != 0) == !arguments.contains(form), "\(outcome.errors)")
        }
        for arguments in [
            ["-sS", port.url.absoluteString], ["-fsS", missing], ["-s", "ftp://x"], ["download", "-sS", missing],
        ] {
            let outcome = try await Tool.run(arguments, directory: folder.url)
            #expect(outcome.status != 0 && outcome.errors.hasPrefix("afar: "), "\(arguments)")
        }
        let warned = try await Tool.run("-sk", "https://localhost:\(port.url.port ?? 0)/")
        #expect(warned.errors.hasPrefix("afar: WARNING: ") && warned.errors.split(separator: "\n").count == 1)
        let noted = try await Tool.run("-d", "{}", form)
        #expect(noted.errors.hasPrefix("afar: The JSON text is sent as a form."))
        await server.stop()
    }

    @Test(arguments: ["-sS", "-fsS", "-fsSL", "-sSL"]) func flagsCanBeJoined(flags: String) throws {
        let command = try RequestCommand<Get>.parse([flags, "x"])
        #expect(command.messages.silent && command.messages.showError)
    }
}
