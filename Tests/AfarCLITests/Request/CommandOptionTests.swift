import ArgumentParser
import Testing

@testable import AfarCLI

struct CommandOptionTests {
    @Test(arguments: [
        (["-sm1", ":1"], ["-s", "--timeout=1", ":1"]),
        (["get", "-so/dev/null", ":1"], ["get", "-s", "--output=/dev/null", ":1"]),
        (["-iXPOST", ":1"], ["-i", "--method=POST", ":1"]), (["-da=1", ":1"], ["--data=a=1", ":1"]),
        (["-d", "---x", ":1"], ["--data=---x", ":1"]), (["--raw", "--", ":1"], ["--raw=--", ":1"]),
        (["-H", "-d", ":1", "-A", ""], ["--header=-d", ":1", "--user-agent", ""]), (["-sS", ":1"], ["-sS", ":1"]),
        ([":1", "--", "-d", "---x"], [":1", "--", "-d", "---x"]), (["-sd"], ["-sd"]),
        (["-?x", "---"], ["-?x", "---"]),
        (["--data=---x"], ["--data=---x"]), (["-"], ["-"]),
    ])
    func valuesAreJoinedToTheirOptions(arguments: [String], expected: [String]) {
        #expect(CommandOption.joiningValues(in: arguments) == expected)
    }

    /// Browsers copy the body of a form in a boundary of dashes.
    @Test func copiedFormsAreParsed() throws {
        let body = "------W\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n------W--\r\n"
        let translation = CurlTranslation(
            arguments: ["-sm3", "http://h/", "--data-raw", body, "-A", "--"], read: { _ in throw Failure(.other, "") })
        let command = try AfarTool.parse(["request"] + #require(translation.commands.first))
        let request = try #require(command as? RequestCommand<AnyRequest>)
        #expect(request.body.dataRaw == body || request.body.data == [body])
        #expect(request.sending.userAgent == "--")
    }
}
