import Foundation
import Testing

@testable import AfarStages

struct StoreFileTests {
    private let scratch: ScratchFile
    private let file: StoreFile

    init() throws {
        scratch = try ScratchFile()
        file = StoreFile(url: scratch.url)
    }

    private func failure(_ work: () throws(StoreFileError) -> Void) -> StoreFileError? {
        do throws(StoreFileError) { try work() } catch { return error }
        return nil
    }

    private func replace(with text: String) throws(StoreFileError) { _ = try file.replace { _ in Array(text.utf8) } }

    @Test func writtenFilesCanBeRead() throws {
        #expect(try file.read() == nil)
        let version = try file.replace { contents in
            #expect(contents == nil)
            return Array("one".utf8)
        }
        #expect(try file.read()?.version == version)
        #expect(try file.read()?.bytes == Array("one".utf8))
        let next = try file.replace { ($0?.bytes ?? []) + Array(" two".utf8) }
        #expect(try scratch.text == "one two")
        #expect(next != version)
        #expect(try scratch.names == ["file"])
    }

    @Test func onlyTheOwnerCanReadTheFile() throws {
        let mask = umask(0)
        defer { umask(mask) }
        try scratch.write("before")
        chmod(scratch.url.path, 0o644)
        try replace(with: "after")
        #expect(scratch.mode == "600")
        umask(0o777)
        try replace(with: "again")
        #expect(scratch.mode == "600")
    }

    @Test func irregularFilesAreATypedError() throws {
        let (manager, path) = (FileManager.default, scratch.url.path)
        try manager.createDirectory(at: scratch.url, withIntermediateDirectories: false)
        #expect(failure { () throws(StoreFileError) in _ = try file.read() } == .notARegularFile(scratch.url))
        #expect(failure { () throws(StoreFileError) in try replace(with: "x") } == .notARegularFile(scratch.url))
        try manager.removeItem(at: scratch.url)

        mkfifo(path, 0o600)
        #expect(failure { () throws(StoreFileError) in _ = try file.read() } == .notARegularFile(scratch.url))
        try manager.removeItem(at: scratch.url)

        let target = scratch.directory.appending(path: "target")
        try Data("secret".utf8).write(to: target)
        try manager.createSymbolicLink(at: scratch.url, withDestinationURL: target)
        #expect(failure { () throws(StoreFileError) in _ = try file.read() } == .notARegularFile(scratch.url))
        #expect(failure { () throws(StoreFileError) in try replace(with: "x") } == .notARegularFile(scratch.url))
        #expect(try String(contentsOf: target, encoding: .utf8) == "secret")
    }

    @Test func aMissingDirectoryIsATypedError() {
        let lost = scratch.directory.appending(path: "none/file")
        let error = failure { () throws(StoreFileError) in _ = try StoreFile(url: lost).replace { _ in [1] } }
        #expect(error == .unwritable(lost, .ENOENT))
        #expect(error?.description.hasSuffix("none/file cannot be written: No such file or directory") == true)
    }

    @Test func aFileOfMoreThan64MiBIsATypedError() throws {
        try scratch.write("")
        truncate(scratch.url.path, (64 << 20) + 1)
        #expect(failure { () throws(StoreFileError) in _ = try file.read() } == .tooLarge(scratch.url))
    }

    @Test func filesOfAKilledProcessAreIgnored() throws {
        try scratch.write("old")
        try Data("half".utf8).write(to: URL(filePath: scratch.url.path + ".new"))
        #expect(try file.read()?.bytes == Array("old".utf8))
        try replace(with: "new")
        #expect(try scratch.text == "new")
        #expect(try scratch.names == ["file"])
    }

    @Test func aLockTimeoutIsATypedError() throws {
        let descriptor = open(scratch.url.path + ".lock", O_RDWR | O_CREAT, 0o600)
        defer { close(descriptor) }
        flock(descriptor, LOCK_EX)
        #expect(failure { () throws(StoreFileError) in try replace(with: "x") } == .inUse(scratch.url))
        #expect(try scratch.names == ["file.lock"])
    }

    @Test func writersAreExclusive() async throws {
        let url = scratch.url
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    for _ in 0..<10 { _ = try? StoreFile(url: url).replace { ($0?.bytes ?? []) + [0x78] } }
                }
            }
        }
        #expect(try scratch.text == String(repeating: "x", count: 80))
        #expect(try scratch.names == ["file"])
    }
}
