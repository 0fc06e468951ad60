import AfarStages
import AfarTestServer
import ArgumentParser
import Foundation
import Testing

@testable import AfarCLI

/// Tests for `--cookie-jar`. The guide's examples test that the tool keeps cookies between its runs.
struct CookieJarTests {
    @Test func theCurlCommandUsesTheSameFile() async throws {
        let outcome = try await Tool.run("get", ":1/x", "--cookie-jar", "jar.txt", "--curl")
        #expect(outcome.text.contains(" --cookie jar.txt --cookie-jar jar.txt "))
    }

    /// A recording or a request that isn't sent has no new cookies.
    @Test func aJarThatIsNotSavedIsOnlyRead() throws {
        let folder = try ScratchDirectory()
        try folder.write("a.test\tFALSE\t/\tFALSE\t0\tname\tvalue\n", to: "jar.txt")
        let path = folder.url.appending(path: "jar.txt").path
        let options = try SendingOptions.parse([])
        let store = try #require(try options.cookieStore(of: nil, jar: path, isSaved: false))
        #expect(store.all.map(\.value) == ["value"])
        store.removeAll()
        #expect(CookieJarFile.save())
        #expect(String(decoding: try folder.contents(of: "jar.txt"), as: UTF8.self).contains("value"))
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
