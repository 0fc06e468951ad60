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

    /// As in curl, a file for `--cookie` doesn't need to exist.
    @Test(arguments: ["nofile.txt", "jar", ""])
    func aMissingCookieFileContainsNoCookies(file: String) throws {
        let folder = try ScratchDirectory()
        let path = file.isEmpty ? "" : folder.url.appending(path: file).path
        let options = try SendingOptions.parse(["-b", path])
        let jar = folder.url.appending(path: "jar").path
        let store = try #require(try options.cookieStore(of: nil, jar: jar, isSaved: false))
        #expect(store.all.isEmpty)
    }

    @Test(arguments: ["theme: dark", "a;b", "-", "localhost:8080"])
    func aCookieWithoutAnEqualsSignIsAUsageError(value: String) throws {
        let options = try SendingOptions.parse(["-b", value])
        #expect(throws: Failure.self) { try options.cookieStore(of: nil, jar: nil, isSaved: false) }
    }

    @Test func theStandardOutputIsNoCookieJar() throws {
        let error = #expect(throws: (any Error).self) { try CookieJarOptions.parse(["-c", "-"]) }
        let message = try CookieJarOptions.message(for: #require(error))
        #expect(message.contains("-v") && message.contains("jar.txt"), "\(message)")
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
