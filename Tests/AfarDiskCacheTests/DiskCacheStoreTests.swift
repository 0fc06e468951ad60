import Afar
import AfarDiskCache
import AfarTestServer
import AfarTransport
import Foundation
import GRDB
import HTTPTypes
import TestServers
import TestSupport
import Testing

@testable import DiskCacheProbe

struct DiskCacheStoreTests {
    /// A temporary folder that is removed when the object is deallocated.
    private final class Folder: Sendable {
        let url = FileManager.default.temporaryDirectory.appending(path: "afar-cache-\(UUID().uuidString)")

        deinit { try? FileManager.default.removeItem(at: url) }

        func files(_ path: String) -> [String] {
            (try? FileManager.default.contentsOfDirectory(atPath: url.appending(path: path).path)) ?? []
        }
    }

    private let folder = Folder()

    private func response(
        _ url: String, variant: String = "", body: String = "body", fields: HTTPFields = [:], date: Date = .now
    ) -> CachedResponse {
        CachedResponse(
            url: url, variant: variant, status: 203, fields: fields, body: Data(body.utf8), requestDate: date - 1,
            responseDate: date)
    }

    private func store(capacity: Int = DiskCacheStore.defaultCapacity) throws -> DiskCacheStore {
        try DiskCacheStore(directory: folder.url, capacity: capacity) { Issue.record($0) }
    }

    @Test(arguments: [10, 200_000]) func storedResponsesAreFoundImmediatelyAndLater(bytes: Int) async throws {
        var fields: HTTPFields = [.cacheControl: "max-age=60", .eTag: "\"ü: x\""]
        fields.append(HTTPField(name: .setCookie, value: "a=b"))
        fields.append(HTTPField(name: .setCookie, value: ""))
        let body = String(repeating: "x", count: bytes)
        let stored = response("a", variant: "v\n1", body: body, fields: fields, date: Date(timeIntervalSince1970: 1e9))
        var first: DiskCacheStore? = try store()
        first?.store(stored)
        #expect(first?.responses(for: "a").map(\.body) == [stored.body])
        await first?.flush()
        first = nil
        let second = try store()
        let found = try #require(second.responses(for: "a").first)
        #expect(found.variant == "v\n1" && found.status == 203 && found.body == Data(body.utf8))
        #expect(found.fields == fields && found.terms.freshnessLifetime == 60)
        #expect(found.requestDate == stored.requestDate && found.responseDate == stored.responseDate)
        #expect(try second.entries().map(\.bodyByteCount) == [bytes])
        #expect(folder.files("bodies").count == (bytes > 32 * 1024 ? 1 : 0))
        let attributes = try FileManager.default.attributesOfItem(atPath: folder.url.path)
        #expect(attributes[.posixPermissions] as? Int == 0o700)
    }

    @Test func variantsCoexistAndTheNewestIsFirst() async throws {
        let store = try store()
        for isFlushed in [false, true] {
            store.store(response("a", variant: "x", body: "1", date: .now - 3))
            store.store(response("a", variant: "y", body: "2", date: .now - 2))
            store.store(response("a", variant: "x", body: "3", date: .now - 1))
            if isFlushed { await store.flush() }
            #expect(store.responses(for: "a").map { String(decoding: $0.body, as: UTF8.self) } == ["3", "2"])
        }
        for number in 0..<40 { store.store(response("b", variant: "\(number)")) }
        await store.flush()
        #expect(store.responses(for: "b").count == 16)
    }

    @Test func removalTakesEffectImmediately() async throws {
        let store = try store()
        let large = String(repeating: "x", count: 100_000)
        for name in ["a", "b", "c"] { store.store(response(name, body: large)) }
        await store.flush()
        store.removeResponses(for: "a")
        #expect(store.responses(for: "a").isEmpty)
        store.store(response("a", body: "new"))
        #expect(store.responses(for: "a").map(\.body) == [Data("new".utf8)])
        await store.flush()
        #expect(store.responses(for: "a").map(\.body) == [Data("new".utf8)] && folder.files("bodies").count == 2)
        store.removeAll()
        #expect(store.responses(for: "b").isEmpty)
        await store.flush()
        #expect(try store.entries().isEmpty && folder.files("bodies").isEmpty)
    }

    @Test func theLeastRecentlyUsedResponsesAreEvictedFirst() async throws {
        let store = try store(capacity: 1_000_000)
        for number in 0..<30 {
            store.store(response("\(number)", body: String(repeating: "x", count: 50_000)))
            await store.flush()
        }
        let kept = try store.entries()
        #expect(kept.count < 20 && kept.first?.url == "29" && !kept.contains { $0.url == "0" })
        #expect(folder.files("bodies").count == kept.count)
        store.store(response("29", body: String(repeating: "x", count: 200_000)))
        await store.flush()
        #expect(store.responses(for: "29").isEmpty)
    }

    @Test func unrelatedFilesAreKept() async throws {
        let foreign = folder.url.appending(path: "bodies/notes")
        try FileManager.default.createDirectory(at: foreign, withIntermediateDirectories: true)
        try FileManager.default.setAttributes([.modificationDate: Date.distantPast], ofItemAtPath: foreign.path)
        let store = try store()
        await store.flush()
        #expect(FileManager.default.fileExists(atPath: foreign.path))
        let database = folder.url.appending(path: "responses.sqlite").path
        #expect(try FileManager.default.attributesOfItem(atPath: database)[.posixPermissions] as? Int == 0o600)
    }

    @Test func aDamagedDatabaseIsReplaced() async throws {
        try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
        try Data(repeating: 7, count: 10_000).write(to: folder.url.appending(path: "responses.sqlite"))
        let store = try store()
        store.store(response("a"))
        await store.flush()
        #expect(store.responses(for: "a").count == 1)
    }

    /// Changes the database without the store.
    private func change(_ sql: String) throws {
        try DatabaseQueue(path: folder.url.appending(path: "responses.sqlite").path).write { try $0.execute(sql: sql) }
    }

    @Test func responsesWhoseRemovalFailedDoNotReturn() async throws {
        let errors = Locked(0)
        let store = try DiskCacheStore(directory: folder.url) { _ in errors.withLock { $0 += 1 } }
        for name in ["a", "b", "c"] { store.store(response(name, variant: "x")) }
        await store.flush()
        try change("CREATE TRIGGER no BEFORE DELETE ON response BEGIN SELECT RAISE(ABORT, 'no'); END")
        store.removeResponses(for: "a")
        store.store(response("b", variant: "x", body: "new"))
        await store.flush()
        #expect(errors.withLock { $0 } == 2 && store.responses(for: "a").isEmpty && store.responses(for: "b").isEmpty)
        #expect(store.responses(for: "c").count == 1)
        try change("DROP TRIGGER no")
        // The next write also removes the remaining rows.
        store.store(response("a", variant: "y"))
        await store.flush()
        #expect(store.responses(for: "a").map(\.variant) == ["y"] && store.responses(for: "b").isEmpty)
        try change("CREATE TRIGGER no BEFORE DELETE ON response BEGIN SELECT RAISE(ABORT, 'no'); END")
        store.removeAll()
        await store.flush()
        #expect(store.responses(for: "c").isEmpty && errors.withLock { $0 } == 3)
    }

    @Test func aModifiedBodyIsNotUsed() async throws {
        let store = try store()
        store.store(response("a", body: "right"))
        await store.flush()
        try change("UPDATE response SET body = CAST('wrong' AS BLOB)")
        let next = try self.store()
        #expect(next.responses(for: "a").isEmpty)
        next.store(response("a", body: "right"))
        await next.flush()
        #expect(try self.store().responses(for: "a").map(\.body) == [Data("right".utf8)])
    }

    @Test func damageIsDetectedAndTheNextStoreIsNew() async throws {
        let errors = Locked(0)
        let damaged = try DiskCacheStore(directory: folder.url) { _ in errors.withLock { $0 += 1 } }
        for name in ["a", "b"] { damaged.store(response(name)) }
        await damaged.flush()
        try change("UPDATE response SET status = 'two hundred' WHERE url = 'a'")
        #expect(damaged.responses(for: "a").isEmpty && damaged.responses(for: "b").isEmpty)
        #expect(throws: (any Error).self) { try damaged.entries() }
        #expect(errors.withLock { $0 } == 1)
        let store = try store()
        #expect(try store.entries().isEmpty)
        store.store(response("a"))
        await store.flush()
        #expect(try self.store().responses(for: "a").count == 1)
    }

    @Test func aDamagedStoreDoesNotAffectItsReplacement() async throws {
        let damaged = try DiskCacheStore(directory: folder.url)
        damaged.store(response("a"))
        await damaged.flush()
        try change("UPDATE response SET status = 'two hundred'")
        #expect(damaged.responses(for: "a").isEmpty)
        let store = try store()
        store.store(response("a"))
        await store.flush()
        damaged.store(response("b"))
        damaged.removeAll()
        await damaged.flush()
        #expect(damaged.responses(for: "a").isEmpty && damaged.responses(for: "b").isEmpty)
        #expect(try self.store().entries().map(\.url) == ["a"])
    }

    @Test func aTemporarilyUnreadableBodyIsKept() async throws {
        let errors = Locked(0)
        let store = try DiskCacheStore(directory: folder.url) { _ in errors.withLock { $0 += 1 } }
        store.store(response("a", body: String(repeating: "x", count: 100_000)))
        await store.flush()
        let file = folder.url.appending(path: "bodies/\(try #require(folder.files("bodies").first))")
        let elsewhere = folder.url.appending(path: "elsewhere")
        try FileManager.default.moveItem(at: file, to: elsewhere)
        try FileManager.default.createDirectory(at: file, withIntermediateDirectories: false)
        #expect(store.responses(for: "a").isEmpty && errors.withLock { $0 } == 1)
        await store.flush()
        try FileManager.default.removeItem(at: file)
        try FileManager.default.moveItem(at: elsewhere, to: file)
        #expect(store.responses(for: "a").count == 1)
    }

    @Test func successfulWritesResetTheErrorCount() async throws {
        let store = try DiskCacheStore(directory: folder.url)
        store.store(response("kept"))
        for _ in 0..<3 {
            await store.flush()
            try change("CREATE TRIGGER no BEFORE INSERT ON response BEGIN SELECT RAISE(ABORT, 'no'); END")
            for number in 0..<600 { store.store(response("\(number)")) }
            await store.flush()
            try change("DROP TRIGGER no")
            for number in 0..<600 { store.removeResponses(for: "\(number)") }
        }
        await store.flush()
        #expect(store.responses(for: "kept").count == 1)
    }

    @Test func anUpdateDoesNotRewriteTheBody() async throws {
        let store = try store()
        let body = String(repeating: "x", count: 100_000)
        let old = response("a", body: body, fields: [.eTag: "1"], date: Date(timeIntervalSince1970: 1e9 + 0.123))
        store.store(old)
        await store.flush()
        let files = folder.files("bodies")
        let new = response("a", body: body, fields: [.eTag: "2"], date: Date(timeIntervalSince1970: 2e9))
        store.update(new, inPlaceOf: try #require(store.responses(for: "a").first))
        await store.flush()
        let found = try #require(store.responses(for: "a").first)
        #expect(found.fields == new.fields && found.responseDate == new.responseDate && found.body == new.body)
        #expect(folder.files("bodies") == files)
        store.update(response("a", body: "other"), inPlaceOf: old)
        await store.flush()
        #expect(store.responses(for: "a").map(\.body) == [Data("other".utf8)])
    }

    @Test func memoryOnlyResponsesAreNotWritten() async throws {
        let store = try store()
        store.store(response("a"))
        store.store(
            CachedResponse(
                url: "a", variant: "", status: 200, fields: [:], body: Data(), requestDate: .now, responseDate: .now,
                isForMemoryOnly: true))
        #expect(store.responses(for: "a").isEmpty)
        await store.flush()
        #expect(try store.entries().isEmpty)
    }

    @Test func anUnusableFolderIsAnError() throws {
        #expect(throws: (any Error).self) { try DiskCacheStore(directory: URL(filePath: "/dev/null/cache")) }
    }

    @Test func aBodyWithAWrongChecksumIsDiscarded() async throws {
        let store = try store()
        store.store(response("a", body: String(repeating: "x", count: 100_000)))
        await store.flush()
        let file = folder.url.appending(path: "bodies/\(try #require(folder.files("bodies").first))")
        var body = try Data(contentsOf: file)
        body[77_777] ^= 1
        try body.write(to: file)
        #expect(store.responses(for: "a").isEmpty)
        await store.flush()
        #expect(try store.entries().isEmpty && folder.files("bodies").isEmpty)
    }

    @Test func tooManyStoredFieldsAreDamage() async throws {
        let errors = Locked(0)
        let damaged = try DiskCacheStore(directory: folder.url) { _ in errors.withLock { $0 += 1 } }
        damaged.store(response("a"))
        await damaged.flush()
        try change("UPDATE response SET fields = replace(hex(zeroblob(35000)), '0', 'a: b' || char(10))")
        #expect(damaged.responses(for: "a").isEmpty && errors.withLock { $0 } == 1)
        #expect(try store().entries().isEmpty)
    }

    @Test func aResponseWithTooManyFieldsIsNotStored() async throws {
        var fields = HTTPFields()
        for _ in 0..<65_100 { fields.append(HTTPField(name: .setCookie, value: "a=b")) }
        let store = try store()
        store.store(response("a"))
        store.store(response("a", fields: fields))
        await store.flush()
        #expect(store.responses(for: "a").isEmpty)
    }

    @Test func aStoreWithAReplacedDatabaseStoresNothing() async throws {
        let first = try DiskCacheStore(directory: folder.url)
        first.store(response("a"))
        await first.flush()
        try change("CREATE TRIGGER no BEFORE DELETE ON response BEGIN SELECT RAISE(ABORT, 'no'); END")
        first.removeResponses(for: "a")
        await first.flush()
        let second = try store()
        #expect(second.responses(for: "a").isEmpty)
        second.store(response("a"))
        await second.flush()
        #expect(first.responses(for: "a").isEmpty)
        first.removeResponses(for: "a")
        first.store(response("b"))
        await first.flush()
        #expect(first.responses(for: "b").isEmpty && second.responses(for: "a").count == 1)
        #expect(try second.entries().map(\.url) == ["a"])
    }

    /// Fills a disk completely, and returns the file that uses the space.
    private func fill(_ disk: TinyDisk) throws -> URL {
        let file = disk.url.appending(path: "filler")
        let descriptor = open(file.path, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        defer { close(descriptor) }
        let bytes = [UInt8](repeating: 7, count: 4096)
        while descriptor >= 0, write(descriptor, bytes, bytes.count) > 0 {}
        #expect(descriptor >= 0 && errno == ENOSPC)
        return file
    }

    @Test(.enabled(if: TinyDisk.isAvailable)) func aWriteThatFailsLeavesNoFile() async throws {
        let (disk, errors) = (try TinyDisk(bytes: 1_000_000), Locked(0))
        let folder = disk.url.appending(path: "cache")
        let store = try DiskCacheStore(directory: folder) { _ in errors.withLock { $0 += 1 } }
        for number in 0..<3 { store.store(response("\(number)", body: String(repeating: "x", count: 600_000))) }
        await store.flush()
        #expect(errors.withLock { $0 } == 2)
        #expect(try store.entries().map(\.url) == ["0"])
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.appending(path: "bodies").path).count == 1)
    }

    @Test(.enabled(if: TinyDisk.isAvailable), arguments: [[10], [100_000], [10, 100_000]], [true, false])
    func responsesRemovedFromAFullDiskDoNotReturn(sizes: [Int], all: Bool) async throws {
        let disk = try TinyDisk(bytes: 2_000_000)
        let folder = disk.url.appending(path: "cache")
        var first: DiskCacheStore? = try DiskCacheStore(directory: folder)
        for (number, size) in sizes.enumerated() {
            first?.store(response("\(number)", body: String(repeating: "x", count: size)))
        }
        first?.store(response("other"))
        await first?.flush()
        let filler = try fill(disk)
        if all { first?.removeAll() } else { for number in sizes.indices { first?.removeResponses(for: "\(number)") } }
        await first?.flush()
        let bodies = folder.appending(path: "bodies").path
        #expect(try FileManager.default.contentsOfDirectory(atPath: bodies).isEmpty)
        first = nil
        func expectNothing(in store: DiskCacheStore?) {
            for number in sizes.indices { #expect(store?.responses(for: "\(number)").isEmpty != false) }
        }
        expectNothing(in: try? DiskCacheStore(directory: folder))
        try FileManager.default.removeItem(at: filler)
        let store = try DiskCacheStore(directory: folder) { Issue.record($0) }
        expectNothing(in: store)
        store.store(response("0", body: String(repeating: "x", count: 100_000)))
        await store.flush()
        #expect(store.responses(for: "0").count == 1)
    }

    @Test func aMissingBodyDiscardsTheResponse() async throws {
        let store = try store()
        store.store(response("a", body: String(repeating: "x", count: 100_000)))
        await store.flush()
        for file in folder.files("bodies") {
            try Data("short".utf8).write(to: folder.url.appending(path: "bodies/\(file)"))
        }
        #expect(store.responses(for: "a").isEmpty)
        await store.flush()
        #expect(try store.entries().isEmpty && folder.files("bodies").isEmpty)
    }

    @Test func aSessionKeepsItsResponsesBetweenRuns() async throws {
        let server = try await TestServer.start()
        for _ in 0..<2 {
            var configuration = SessionConfiguration.default
            let store = try store()
            configuration.cacheStore = store
            let session = Session(configuration: configuration)
            let request = session.request(server.url("/cache/60"))
            #expect(try await request.serializingString().value.contains("1"))
            await store.flush()
        }
        #expect(server.requestCount == 1)
        await server.stop()
    }

    private func probe(_ directory: URL? = nil, seconds: Double, output: URL) throws -> ChildProcess {
        let probe = (Bundle.main.executableURL ?? URL(filePath: CommandLine.arguments[0]))
            .deletingLastPathComponent().appending(path: "DiskCacheProbe")
        let directory = directory ?? folder.url.appending(path: "cache")
        return try ChildProcess([probe.path, directory.path, "\(seconds)"], output: output)
    }

    /// Returns the lines that a probe has printed.
    private func lines(_ probe: ChildProcess) -> [Substring] { probe.output.split(separator: "\n") }

    /// Checks that every stored response has a complete body.
    private func expectWholeBodies() throws {
        let store = try DiskCacheStore(directory: folder.url.appending(path: "cache"), capacity: 4_000_000) {
            Issue.record($0)
        }
        for entry in try store.entries() {
            for response in store.responses(for: entry.url) {
                #expect(ChecksummedBody.isWhole(response.body, of: entry.url), "\(entry.url)")
            }
        }
    }

    /// The test runs for 3 seconds, or for `AFAR_CACHE_SECONDS`.
    @Test func twoProcessesCanShareAFolder() async throws {
        try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
        let seconds = ProcessInfo.processInfo.environment["AFAR_CACHE_SECONDS"].flatMap(Double.init) ?? 3
        let probes = try ["1", "2"].map { try probe(seconds: seconds, output: folder.url.appending(path: $0)) }
        for probe in probes { try await waitWhile { probe.isRunning } }
        for probe in probes {
            let lines = lines(probe)
            #expect(lines.contains("stored"))
            #expect(!lines.contains { $0 != "stored" }, "\(lines.first { $0 != "stored" } ?? "")")
        }
        try expectWholeBodies()
    }

    @Test func twoProcessesCanOpenANewFolderConcurrently() async throws {
        for round in 0..<15 {
            let directory = folder.url.appending(path: "\(round)")
            try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
            let outputs = ["1", "2"].map { directory.appending(path: $0) }
            let probes = try outputs.map { try probe(directory.appending(path: "cache"), seconds: 0.2, output: $0) }
            for probe in probes { try await waitWhile { probe.isRunning } }
            for probe in probes { #expect(Set(lines(probe)) == ["stored"]) }
        }
    }

    @Test func aKilledProcessLeavesAUsableStore() async throws {
        try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
        for number in 0..<50 {
            let probe = try probe(seconds: 60, output: folder.url.appending(path: "\(number)"))
            let count = Int.random(in: 1...5)
            try await waitWhile { lines(probe).count < count && probe.isRunning }
            probe.stop()
            #expect(!lines(probe).contains { $0 != "stored" }, "\(lines(probe))")
        }
        try expectWholeBodies()
    }
}
