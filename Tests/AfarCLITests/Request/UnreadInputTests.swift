import AfarTestServer
import Foundation
import Testing

/// The note for a standard input that isn't sent.
@Suite(.timeLimit(.minutes(10))) struct UnreadInputTests {
    private static let note = "afar: The standard input was not sent. To send it as the body, add --raw -\n"

    private let server: TestServer

    init() async throws { server = try await TestServer.start() }

    private func errors(_ line: String) async throws -> String {
        let outcome = try await Tool.bash(
            line, environment: ["url": server.url("/anything").absoluteString], directory: nil)
        #expect(outcome.status == 0, "\(outcome.errors)")
        return outcome.errors
    }

    /// A here-string of bash is complete before the command starts.
    @Test(arguments: [
        #""$afar" post $url <<< hello"#, #""$afar" put $url < /etc/passwd"#, #""$afar" -X PATCH $url <<< hello"#,
        #""$afar" post $url --offline > /dev/null <<< hello"#,
    ])
    func aBodyThatIsPipedIsNamed(line: String) async throws {
        #expect(try await errors(line) == Self.note)
        #expect(server.lastRequest(path: "/anything")?.body.isEmpty != false)
        await server.stop()
    }

    @Test(arguments: [
        #""$afar" post $url < /dev/null"#, #": | "$afar" post $url"#, #""$afar" post $url <&-"#,
        #""$afar" get $url <<< hello"#, #""$afar" $url <<< hello"#, #""$afar" delete $url <<< hello"#,
        #""$afar" post $url a=1 <<< hello"#, #""$afar" post $url --raw - <<< hello"#,
        #""$afar" post $url -d @- <<< hello"#,
    ])
    func otherCommandsAreQuiet(line: String) async throws {
        #expect(try await errors(line) == "")
        await server.stop()
    }

    /// A loop's input belongs to the loop.
    @Test func aLoopKeepsItsInput() async throws {
        let folder = try ScratchDirectory()
        try folder.write("1\n2\n3\n", to: "numbers")
        let outcome = try await Tool.bash(
            #"while read number; do "$afar" post $url?$number > /dev/null; done < numbers"#,
            environment: ["url": server.url("/anything").absoluteString], directory: folder.url)
        #expect(outcome.errors == "")
        #expect(server.requestCount == 3)
        await server.stop()
    }
}
