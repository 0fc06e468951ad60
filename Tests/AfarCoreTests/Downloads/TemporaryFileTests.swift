import Foundation
import Testing

@testable import AfarCore

@Suite struct TemporaryFileTests {
    @Test(arguments: [true, false]) func theDirectoryIsRemovedIfTheFileWasMovedAway(isTaken: Bool) throws {
        let url: URL
        do {
            let file = try TemporaryFile()
            file.keep()
            url = file.url
            if isTaken { try FileManager.default.removeItem(at: url) }
        }
        let directory = url.deletingLastPathComponent()
        #expect(FileManager.default.fileExists(atPath: url.path) == !isTaken)
        #expect(FileManager.default.fileExists(atPath: directory.path) == !isTaken)
        try? FileManager.default.removeItem(at: directory)
    }
}
