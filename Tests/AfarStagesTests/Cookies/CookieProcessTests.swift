import Foundation
import TestServers
import Testing

@testable import AfarStages

/// Processes that share a file, including processes that are killed.
struct CookieProcessTests {
    private let scratch: ScratchFile

    init() throws { scratch = try ScratchFile() }

    private func probe(_ arguments: String...) throws -> ChildProcess {
        let program = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().appending(path: "CookieProbe")
        return try ChildProcess(
            [program.path, scratch.url.path] + arguments, output: scratch.directory.appending(path: "output"))
    }

    @Test func cookiesStoredBeforeAProcessExitsAreKept() throws {
        #expect(try probe("exit", "a", "30").wait())
        #expect(try FileCookieStore(file: scratch.url).all.count == 30)
    }

    @Test func twoProcessesKeepEachOthersCookies() throws {
        let processes = [try probe("count", "a", "60"), try probe("count", "b", "60"), try probe("count", "c", "60")]
        for process in processes { #expect(process.wait()) }
        let cookies = try FileCookieStore(file: scratch.url).all
        for prefix in ["a", "b", "c"] {
            #expect(cookies.count { $0.domain == "\(prefix).example.com" } == 40, "\(prefix)")
        }
    }

    @Test func aKilledProcessLeavesACompleteFile() async throws {
        var generator = SystemRandomNumberGenerator()
        for round in 0..<25 {
            let process = try probe("forever", "k")
            // The file exists once the process has started.
            let end = ContinuousClock.now + .seconds(20)
            while scratch.mode == "none", ContinuousClock.now < end { try await Task.sleep(for: .milliseconds(1)) }
            try await Task.sleep(for: .microseconds(UInt64.random(in: 0..<20_000, using: &generator)))
            process.stop()
            let text = try scratch.text
            #expect(text.hasPrefix("# Netscape HTTP Cookie File\n") && text.hasSuffix("v\n"), "round \(round)")
            let (cookies, otherLines) = NetscapeCookieFile.read(Array(text.utf8), now: Date())
            #expect(!cookies.isEmpty && otherLines.isEmpty)
            #expect(cookies.allSatisfy { $0.value.utf8.allSatisfy { $0 == UInt8(ascii: "v") } })
            #expect(scratch.mode == "600")
        }
        // The leftovers of a killed process don't block the next one.
        let store = try FileCookieStore(file: scratch.url)
        store.store(try #require(Cookie(name: "last", value: "1", domain: "example.com")))
        try store.flush()
        #expect(try scratch.names.isSubset(of: ["file", "file.lock", "output"]))
    }
}
