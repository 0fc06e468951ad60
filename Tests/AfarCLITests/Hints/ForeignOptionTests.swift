import AfarTestServer
import ArgumentParser
import Foundation
import Testing

@testable import AfarCLI

/// Tests for the explanations of options of other tools.
@Suite(.timeLimit(.minutes(10)))
struct ForeignOptionTests {
    @Test(arguments: [
        (["-a", "ada:hush", ":1"], "HTTPie", "--user NAME:PASSWORD --auth basic"),
        (["-j", ":1", "a=b"], "HTTPie", "items are sent as JSON"),
        (["-C", "-", "-O", ":1"], "curl", "afar download URL --resume"),
        (["--pretty=all", ":1"], "HTTPie", "--color"), (["--download", ":1"], "HTTPie", "afar download"),
        (["--verify=no", ":1"], "HTTPie", "-k"), (["--verify", "no", ":1"], "HTTPie", "--cacert"),
        (["--multipart", ":1", "a=b"], "HTTPie", "--as multipart"), (["--quiet", ":1"], "HTTPie", "-sS -o /dev/null"),
        (["-q", ":1"], "HTTPie", "-sS -o /dev/null"), (["-q", ":1"], "curl", "--no-config"),
        (["--dry-run", ":1"], "HTTPie", "--offline"), (["--all", ":1"], "HTTPie", "-v"),
        (["--style", "monokai", ":1"], "HTTPie", "--color never"), (["--ssl=tls1.3", ":1"], "HTTPie", "--tls-min"),
        (["--cert-key", "k", ":1"], "HTTPie", "--key FILE"), (["--auth-type=digest", ":1"], "HTTPie", "--auth"),
        (["--response-charset", "utf-8", ":1"], "HTTPie", "--charset"), (["--debug", ":1"], "HTTPie", "-v"),
        (["--no-location", ":1"], "curl", "--no-follow"), (["--no-fail", ":1"], "curl", "it's the default"),
        (["--form-string", "a=@b", ":1"], "curl", "--as multipart NAME=VALUE"),
        (["-n", ":1"], "curl", "--netrc"), (["download", "-O", ":1"], "curl", "unless -o names it"),
        (["download", "--continue", ":1"], "Wget", "--resume"), (["download", "-f", ":1"], "curl", "isn't 2xx"),
        (["bench", "-t", "2", ":1"], "wrk", "-c"), (["bench", "-q", "5", ":1"], "hey", "--rate"),
    ])
    func foreignOptionsAreExplained(arguments: [String], tool: String, part: String) async throws {
        let outcome = try await Tool.run(arguments)
        #expect(outcome.status == 2 && outcome.output.isEmpty)
        #expect(outcome.errors.contains("is an option of") && outcome.errors.contains(tool), "\(outcome.errors)")
        #expect(outcome.errors.contains(part) && outcome.errors.split(separator: "\n").count == 1, "\(outcome.errors)")
        #expect(!outcome.errors.contains("hush"))
    }

    @Test(arguments: [
        (["-f", ":1", "a=b"], "--as form"), (["--auth", "ada:hush", ":1"], "--user NAME:PASSWORD"),
        (["--auth=ada:hush", ":1"], "--user NAME:PASSWORD"), (["--form", ":1", "a=b"], "--as form"),
        (["--json", ":1", "a=b"], "leave it out"), (["-d", "https://x.invalid/hush"], "afar download"),
        (["-F", ":1"], "redirects are followed"), (["-b", ":1"], "--body"),
        (["-A", "digest", ":1"], "--auth basic or digest"),
        (["-I", "POST", ":1"], "leave it out"), (["--proxy", "http:http://localhost:1", ":1"], "--proxy URL"),
        (["bench", ":1", "-d", "10s"], "-z 10s"), (["curl https://x.invalid/?token=hush"], "afar curl '…'"),
        (["get", "$ curl -d hush https://x.invalid"], "afar curl '…'"),
        (["download", "curl https://x.invalid"], "afar curl '…'"),
        (["download", "--json", "a=b", ":1"], "afar download has no --json"),
    ])
    func misunderstoodArgumentsAreExplained(arguments: [String], part: String) async throws {
        let outcome = try await Tool.run(arguments)
        #expect(outcome.status == 2 && outcome.errors.contains(part), "\(outcome.errors)")
        #expect(!outcome.errors.contains("hush") && outcome.errors.split(separator: "\n").count == 1)
    }

    /// An abbreviation of curl's option would lead to a wrong explanation.
    @Test(arguments: [
        ["--styl", ":1"], ["--retry-max", ":1"], ["help", "--json"], ["serve", "--json"], ["--frob", ":1"],
    ])
    func otherOptionsAreUnknown(arguments: [String]) async throws {
        let outcome = try await Tool.run(arguments)
        #expect(outcome.status == 2 && outcome.errors.contains("Unknown option"), "\(outcome.errors)")
        #expect(!outcome.errors.contains("curl") && !outcome.errors.contains("afar help --help"))
    }

    /// Without a URL, the parser reports only the missing URL.
    @Test(arguments: [
        (["-V"], "afar --version"), (["--help-all"], "--help-all"), (["--bogus"], "--bogus"),
        (["get", "--pretty=all"], "--color"), (["-s", "-D", "hdr.txt"], "--har FILE"),
        (["-i", "--tiemout", "3"], "--timeout"),
    ])
    func unknownOptionsAreReportedBeforeAMissingURL(arguments: [String], part: String) throws {
        let failure = try Failure.ofParsing(arguments)
        #expect(failure.status == .usage && failure.message.contains(part), "\(failure)")
        #expect(!failure.message.contains("Missing"), "\(failure)")
    }

    @Test(arguments: [["-i"], ["-H", "A: b"], ["-o"]]) func knownOptionsWithoutAURL(arguments: [String]) throws {
        let failure = try Failure.ofParsing(arguments)
        #expect(failure.message.contains("Missing") && !failure.message.contains("Unknown"), "\(failure)")
    }

    @Test func theTotalTimeOfRetriesHasNoOption() {
        let hint = ForeignOption.hint(for: "--retry-max-time", in: "request")
        #expect(hint?.contains("doesn't have: --timeout limits each attempt") == true, "\(hint ?? "")")
        #expect(RequestCommand<Get>.helpMessage(columns: 500).contains("With --retry, each attempt"))
    }

    @Test func shortFailWorksWithItemsIfTheFormatIsExplicit() async throws {
        let server = try await TestServer.start()
        let url = server.url("/post").absoluteString
        for options in [["-f", "--as", "form"], ["--fail"], ["-f", "--as", "json"]] {
            #expect(try await Tool.run(options + [url, "a=b"]).status == 0)
        }
        await server.stop()
    }

    @Test(arguments: [
        (["-C", "-", "-o", "part.bin", ":1"], "-H 'Range: bytes=N-' >> FILE"),
        (["-U", "ada:hush", ":1"], "NAME:PASSWORD@ before"),
        (["download", "-C", "-", ":1"], "only downloads that were started with --resume"),
        ([":1/x", "a=hush", "--form"], "--form has no value. For HTTPie's --form, write --as form."),
        ([":1/x", "a=hush", "--json"], "--json has no value. For HTTPie's --json, leave it out"),
    ])
    func theParsersMessagesAreExplained(arguments: [String], part: String) throws {
        let failure = try Failure.ofParsing(arguments)
        #expect(failure.message.contains(part) && !failure.message.contains("hush"), "\(failure)")
    }

    /// An option that exists is explained by its help instead.
    @Test func noExplainedOptionExists() {
        let own = Set(CommandOption.all(of: RequestCommand<AnyRequest>.self).flatMap(\.names))
        for name in own where name != "-f" {
            #expect(ForeignOption.hint(for: name, in: "request")?.contains("has no") != false)
        }
    }
}
