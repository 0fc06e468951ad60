import Foundation
import TestSupport
import Testing

@testable import AfarCore

/// Moves within a file system, moves to other file systems, and their errors.
@Suite struct FileMoveTests {
    private static let otherDevice = URL(fileURLWithPath: "/dev/shm")

    private final class Scratch {
        let url: URL

        init(in place: URL = FileManager.default.temporaryDirectory) throws {
            url = place.appendingPathComponent("afar-move-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
        }

        deinit { try? FileManager.default.removeItem(at: url) }

        var names: [String] { get throws { try FileManager.default.contentsOfDirectory(atPath: url.path).sorted() } }
    }

    private let scratch: Scratch
    private let source: URL

    init() throws {
        scratch = try Scratch()
        source = scratch.url.appendingPathComponent("source")
        try Data("new".utf8).write(to: source)
    }

    private func move(to destination: URL, _ options: DownloadRequest.Options = []) throws {
        try FileMove(source: source, destination: destination, options: options).perform()
    }

    private func text(_ url: URL) throws -> String { try String(contentsOf: url, encoding: .utf8) }

    /// Moves the file and expects a failure that leaves the source unchanged.
    private func expectFailure(
        to destination: URL, _ code: CocoaError.Code, _ cause: POSIXErrorCode?, options: DownloadRequest.Options = [],
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let error = #expect(throws: CocoaError.self, sourceLocation: sourceLocation) {
            try move(to: destination, options)
        }
        #expect(error?.code == code, sourceLocation: sourceLocation)
        let underlying = error?.userInfo[NSUnderlyingErrorKey] as? POSIXError
        #expect(underlying?.code == cause, sourceLocation: sourceLocation)
        #expect(try text(source) == "new", sourceLocation: sourceLocation)
    }

    @Test(arguments: [[], .removePreviousFile] as [DownloadRequest.Options])
    func aFileIsMoved(options: DownloadRequest.Options) throws {
        let destination = scratch.url.appendingPathComponent("moved")
        try move(to: destination, options)
        #expect(try text(destination) == "new")
        #expect(try scratch.names == ["moved"])
    }

    @Test(
        .enabled(if: FileManager.default.isWritableFile(atPath: otherDevice.path), "requires /dev/shm"),
        arguments: [[], .removePreviousFile, .createIntermediateDirectories] as [DownloadRequest.Options])
    func aFileIsMovedToAnotherDevice(options: DownloadRequest.Options) throws {
        let other = try Scratch(in: Self.otherDevice)
        let large = Data((0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) })
        try large.write(to: source)
        let isDeep = options == .createIntermediateDirectories
        let destination = other.url.appendingPathComponent(isDeep ? "deep/er/moved" : "moved")
        try move(to: destination, options)
        #expect(try Data(contentsOf: destination) == large)
        #expect(try scratch.names == [])
        #expect(try other.names == [isDeep ? "deep" : "moved"])
    }

    @Test(.enabled(if: FileManager.default.isWritableFile(atPath: otherDevice.path), "requires /dev/shm"))
    func aCopyIsPrivateUntilItIsComplete() async throws {
        let other = try Scratch(in: Self.otherDevice)
        let destination = other.url.appendingPathComponent("moved")
        // A copy from a pipe waits for the writer.
        let pipe = scratch.url.appendingPathComponent("pipe")
        try #require(mkfifo(pipe.path, 0o600) == 0 && chmod(pipe.path, 0o644) == 0)
        let move = Task.detached {
            try FileMove(source: pipe, destination: destination, options: []).perform()
        }
        let writer = open(pipe.path, O_WRONLY)
        try #require(writer >= 0)
        try await waitWhile { try other.names.isEmpty }
        let names = try other.names
        #expect(names.count == 1 && names.first?.hasPrefix(".afar-") == true)
        #expect(permissions(of: other.url.appendingPathComponent(names.first ?? "")) == 0o600)
        #expect(write(writer, "new", 3) == 3)
        close(writer)
        try await move.value
        #expect(try text(destination) == "new")
        #expect(permissions(of: destination) == 0o644)
    }

    private func permissions(of file: URL) -> mode_t? {
        var status = stat()
        return lstat(file.path, &status) == 0 ? status.st_mode & 0o777 : nil
    }

    @Test(arguments: [false, true])
    func anExistingFileIsReplacedOnlyOnRequest(isElsewhere: Bool) throws {
        let place = isElsewhere ? try Scratch(in: Self.otherDevice) : scratch
        let destination = place.url.appendingPathComponent("kept")
        try Data("precious".utf8).write(to: destination)
        try expectFailure(to: destination, .fileWriteFileExists, .EEXIST)
        #expect(try text(destination) == "precious")
        #expect(try place.names.filter { $0 != "source" } == ["kept"])
        try move(to: destination, .removePreviousFile)
        #expect(try text(destination) == "new")
        #expect(try place.names == ["kept"])
    }

    @Test func aSymbolicLinkCountsAsAnExistingFile() throws {
        let destination = scratch.url.appendingPathComponent("link")
        let target = scratch.url.appendingPathComponent("target")
        try FileManager.default.createSymbolicLink(at: destination, withDestinationURL: target)
        try expectFailure(to: destination, .fileWriteFileExists, .EEXIST)
        try move(to: destination, .removePreviousFile)
        #expect(try scratch.names == ["link"])
        #expect(try text(destination) == "new")
    }

    @Test(arguments: [[], .removePreviousFile] as [DownloadRequest.Options])
    func aDirectoryIsNeverReplaced(options: DownloadRequest.Options) throws {
        let directory = scratch.url.appendingPathComponent("directory")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: false)
        try expectFailure(to: directory, .fileWriteFileExists, .EISDIR, options: options)
        #expect(try scratch.names == ["directory", "source"])
    }

    @Test func aMissingDirectoryIsNamed() throws {
        try expectFailure(to: scratch.url.appendingPathComponent("no/such/file"), .fileNoSuchFile, .ENOENT)
        try expectFailure(to: source.appendingPathComponent("file"), .fileNoSuchFile, .ENOTDIR)
    }

    @Test func aNonFileURLIsAnError() throws {
        let destination = try #require(URL(string: "http://example.com/file"))
        try expectFailure(to: destination, .fileWriteUnsupportedScheme, nil)
    }

    @Test func aLongNameIsReported() throws {
        let name = String(repeating: "x", count: 300)
        try expectFailure(to: scratch.url.appendingPathComponent(name), .fileWriteInvalidFileName, .ENAMETOOLONG)
    }

    @Test(.enabled(if: TinyDisk.isAvailable, "only root can mount a file system"))
    func aFullDiskLeavesNoPartialFile() throws {
        let disk = try TinyDisk(bytes: 128 * 1024)
        let large = Data(count: 1_000_000)
        try large.write(to: source)
        let destination = disk.url.appendingPathComponent("file")
        for options in [[], .removePreviousFile] as [DownloadRequest.Options] {
            let error = #expect(throws: CocoaError.self) { try move(to: destination, options) }
            #expect(error?.code == .fileWriteOutOfSpace)
            #expect(error?.localizedDescription.contains("enough space in \(disk.url.path)") == true)
            #expect(try FileManager.default.contentsOfDirectory(atPath: disk.url.path) == [])
            #expect(try Data(contentsOf: source) == large)
        }
    }

    @Test(.enabled(if: TinyDisk.isAvailable, "only root can mount a file system"))
    func aReadOnlyDiskIsReported() throws {
        let disk = try TinyDisk(bytes: 128 * 1024)
        try disk.becomeReadOnly()
        try expectFailure(to: disk.url.appendingPathComponent("file"), .fileWriteVolumeReadOnly, .EROFS)
    }

    @Test(.enabled(if: geteuid() != 0, "root can write to any file"))
    func missingPermissionIsReported() throws {
        try expectFailure(to: URL(fileURLWithPath: "/afar-test"), .fileWriteNoPermission, .EACCES)
    }
}
