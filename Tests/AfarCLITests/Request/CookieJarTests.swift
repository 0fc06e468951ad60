import AfarTestServer
import Foundation
import Testing

/// Tests for `--cookie-jar`. The guide's examples test that the tool keeps cookies between its runs.
struct CookieJarTests {
    @Test func theCurlCommandUsesTheSameFile() async throws {
        let outcome = try await Tool.run("get", ":1/x", "--cookie-jar", "jar.txt", "--curl")
        #expect(outcome.text.contains(" --cookie jar.txt --cookie-jar jar.txt "))
    }

    @Test func aDirectoryIsAUsageError() async throws {
        let directory = try ScratchDirectory()
        let outcome = try await Tool.run("get", ":1/x", "--cookie-jar", directory.url.path)
        #expect(outcome.status == 2)
        #expect(outcome.errors.contains("is not a regular file"))
    }

    @Test func aFileThatCannotBeWrittenIsReportedBeforeTheRequest() async throws {
        let outcome = try await Tool.run("get", ":1/x", "--cookie-jar", "/nowhere/jar.txt")
        #expect(outcome.status == 2)
        #expect(outcome.errors.contains("--cookie-jar: /nowhere/jar.txt cannot be written"))
    }
}
