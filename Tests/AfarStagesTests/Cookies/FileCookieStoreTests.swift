import Foundation
import Testing

@testable import AfarStages

struct FileCookieStoreTests {
    private let scratch: ScratchFile

    init() throws { scratch = try ScratchFile() }

    private func cookie(_ name: String, _ value: String = "1", expires: Date? = Date() + 3_600) throws -> Cookie {
        try #require(Cookie(name: name, value: value, domain: "example.com", expires: expires))
    }

    /// The contents that another process would read.
    private var written: Set<String> {
        get throws { Set(try FileCookieStore(file: scratch.url).all.map(\.pair)) }
    }

    @Test func cookiesPersistAcrossRuns() throws {
        let store = try FileCookieStore(file: scratch.url)
        #expect(store.isEmpty)
        store.store(try cookie("a"))
        store.store(try cookie("session", expires: nil))
        try store.flush()
        #expect(scratch.mode == "600")
        #expect(try written == ["a=1", "session=1"])
        store.remove { $0.name == "a" }
        try store.flush()
        #expect(try written == ["session=1"])
        store.removeAll()
        try store.flush()
        #expect(try written == [])
    }

    @Test func theFileIsWrittenAutomatically() async throws {
        let store = try FileCookieStore(file: scratch.url)
        for number in 0..<30 { store.store(try cookie("a\(number)")) }
        let end = ContinuousClock.now + .seconds(20)
        while try written.count < 30, ContinuousClock.now < end { try await Task.sleep(for: .milliseconds(5)) }
        #expect(try written.count == 30)
    }

    @Test func aReleasedStoreIsWritten() async throws {
        do { try FileCookieStore(file: scratch.url).store(try cookie("a")) }
        let end = ContinuousClock.now + .seconds(20)
        while try written.isEmpty, ContinuousClock.now < end { try await Task.sleep(for: .milliseconds(5)) }
        #expect(try written == ["a=1"])
    }

    @Test func theFileIsNotWrittenWithoutChanges() throws {
        let store = try FileCookieStore(file: scratch.url)
        store.store(try cookie("a", expires: nil))
        try store.flush()
        try FileManager.default.removeItem(at: scratch.url)
        store.store(try cookie("a", expires: nil))
        _ = store.cookies(for: try CookieURL("https://example.com/"))
        try store.flush()
        #expect(scratch.mode == "none")
    }

    @Test func removingAllLeavesNoSecret() throws {
        try Data("# A note\na.b\tFALSE\t/\tFALSE\t0\tn\tsecret\u{7}\n".utf8).write(to: scratch.url)
        let store = try FileCookieStore(file: scratch.url)
        store.removeAll()
        try store.flush()
        let text = try String(contentsOf: scratch.url, encoding: .utf8)
        #expect(text.contains("# A note") && !text.contains("secret"))
    }

    @Test func aNewerCookieIsNotRemovedInsteadOfAnOlderOne() throws {
        let stores: [any CookieStore] = [try FileCookieStore(file: scratch.url), MemoryCookieStore()]
        for store in stores {
            store.store(try cookie("a", "old"))
            store.store(try cookie("b"))
            let new = try cookie("a", "new")
            store.remove { cookie in
                store.store(new)
                return cookie.name == "a"
            }
            #expect(Set(store.all.map(\.pair)) == ["a=new", "b=1"])
        }
    }

    @Test func cookiesWrittenByOthersAreKept() throws {
        let (one, two) = (try FileCookieStore(file: scratch.url), try FileCookieStore(file: scratch.url))
        one.store(try cookie("a"))
        one.store(try cookie("c", "old"))
        try one.flush()
        two.store(try cookie("b"))
        try two.flush()
        #expect(try written == ["a=1", "b=1", "c=old"])
        #expect(Set(two.all.map(\.name)) == ["a", "b", "c"])
        two.store(try cookie("c", "new"))
        try two.flush()
        one.remove { $0.name == "a" }
        try one.flush()
        #expect(try written == ["b=1", "c=new"])
    }

    @Test func unrepresentableAttributesAreKeptInMemory() throws {
        let (one, two) = (try FileCookieStore(file: scratch.url), try FileCookieStore(file: scratch.url))
        let strict = try #require(
            Cookie(name: "a", value: "1", domain: "example.com", sameSite: .strict, creationDate: .start))
        one.store(strict)
        try one.flush()
        two.store(try cookie("b"))
        try two.flush()
        one.store(try cookie("c"))
        try one.flush()
        #expect(one.all.first { $0.name == "a" }?.sameSite == .strict)
        #expect(one.all.first { $0.name == "a" }?.creationDate == .start)
        #expect(one.all.count == 3)
        one.store(try #require(Cookie(name: "tab", value: "x\ty", domain: "example.com")))
        #expect(one.all.count == 3)
    }

    @Test func unrecognizedLinesAreKept() throws {
        try scratch.write("# mine\nnonsense\nexample.com\tFALSE\t/\tFALSE\t0\tn\tv\n")
        let store = try FileCookieStore(file: scratch.url)
        #expect(store.all.map(\.pair) == ["n=v"])
        store.store(try cookie("a"))
        try store.flush()
        let lines = Set(try scratch.text.split(separator: "\n").map(String.init))
        #expect(lines.isSuperset(of: ["# mine", "nonsense", "example.com\tFALSE\t/\tFALSE\t0\tn\tv"]))
    }

    @Test func anUnwritableFileIsATypedErrorAndKeepsCookies() throws {
        let store = try FileCookieStore(file: scratch.url)
        try FileManager.default.createDirectory(at: scratch.url, withIntermediateDirectories: false)
        store.store(try cookie("a"))
        #expect(throws: StoreFileError.notARegularFile(scratch.url)) { try store.flush() }
        #expect(store.error == .notARegularFile(scratch.url))
        #expect(store.all.count == 1)
        try FileManager.default.removeItem(at: scratch.url)
        store.store(try cookie("b"))
        try store.flush()
        #expect(store.error == nil)
        #expect(try written == ["a=1", "b=1"])
    }

    @Test func aDirectoryIsNotOpened() throws {
        let directory = scratch.directory
        #expect(throws: StoreFileError.notARegularFile(directory)) { _ = try FileCookieStore(file: directory) }
    }

    @Test func tenThousandCookiesAreWrittenAndRead() throws {
        let limits = CookieJar.Limits(total: 20_000)
        let store = try FileCookieStore(file: scratch.url, limits: limits)
        let cookies = (0..<10_000).compactMap { Cookie(name: "n", value: "\($0)", domain: "h\($0).test") }
        store.store(cookies, from: nil)
        try store.flush()
        let read = try FileCookieStore(file: scratch.url, limits: limits)
        #expect(read.all.count == 10_000)
        #expect(read.cookies(for: try CookieURL("http://h9999.test/")).map(\.value) == ["9999"])
        #expect(try FileCookieStore(file: scratch.url).all.count <= 3_000)
    }
}
