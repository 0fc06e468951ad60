import Foundation
import Testing

@testable import AfarStages

struct FileHSTSStoreTests {
    private let scratch: ScratchFile

    init() throws { scratch = try ScratchFile() }

    @Test func hostsPersistAcrossRuns() throws {
        let store = try FileHSTSStore(file: scratch.url)
        let date = Date(timeIntervalSince1970: 4_102_444_799)
        store.store(try #require(HSTSHost(name: "one.test", expires: date)))
        store.store(try #require(HSTSHost(name: "two.test", includesSubdomains: true)))
        try store.flush()
        #expect(try scratch.text.hasSuffix("one.test \"20991231 23:59:59\"\n.two.test \"unlimited\"\n"))
        #expect(scratch.mode == "600")
        let next = try FileHSTSStore(file: scratch.url)
        #expect(Set(next.all) == Set(store.all))
        #expect(next.contains("a.two.test") && !next.contains("a.one.test"))
        next.removeAll()
        try next.flush()
        #expect(try FileHSTSStore(file: scratch.url).all.isEmpty)
    }

    @Test func theFileIsNotWrittenWithoutChanges() throws {
        let store = try FileHSTSStore(file: scratch.url)
        store.store(try #require(HSTSHost(name: "one.test", expires: .now + 100_000)))
        try store.flush()
        try FileManager.default.removeItem(at: scratch.url)
        store.store(try #require(HSTSHost(name: "one.test", expires: .now + 100_010)))
        store.store(try #require(HSTSHost(name: "two.test", expires: .distantPast)))
        try store.flush()
        #expect(scratch.mode == "none")
        store.store(try #require(HSTSHost(name: "one.test", expires: .now + 200_000)))
        try store.flush()
        #expect(scratch.mode == "600")
    }

    @Test func hostsWrittenByOthersAreKept() throws {
        let (one, two) = (try FileHSTSStore(file: scratch.url), try FileHSTSStore(file: scratch.url))
        one.store(try #require(HSTSHost(name: "one.test")))
        try one.flush()
        two.store(try #require(HSTSHost(name: "two.test")))
        try two.flush()
        #expect(Set(try FileHSTSStore(file: scratch.url).all.map(\.name)) == ["one.test", "two.test"])
    }

    @Test func unrecognizedLinesAreKept() throws {
        try scratch.write("# mine\nnonsense\none.test \"20991231 23:59:59\"\nold.test \"20010101 00:00:00\"\n")
        let store = try FileHSTSStore(file: scratch.url)
        #expect(store.all.map(\.name) == ["one.test"])
        store.store(try #require(HSTSHost(name: "two.test")))
        try store.flush()
        let text = try scratch.text
        #expect(text.contains("# mine\nnonsense\n") && !text.contains("old.test"))
    }
}
