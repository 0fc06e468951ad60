import Foundation
import Testing

@testable import AfarParallelDownloads

/// The temporary file of a download.
@Suite struct PartialFileTests {
    /// After a failed move, the file is closed, and another file usually has its descriptor.
    @Test func discardingAClosedFileChangesNoOther() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "afar-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let partial = try PartialFile(nextTo: folder.appending(path: "file"))
        try partial.write(Data("abc".utf8), at: 0)
        #expect(throws: ParallelDownloadError.self) { try partial.move(to: folder) }
        let other = folder.appending(path: "other")
        try Data("content".utf8).write(to: other)
        let handle = try FileHandle(forUpdating: other)
        partial.discard()
        #expect(try handle.readToEnd() == Data("content".utf8))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["other"])
    }
}
