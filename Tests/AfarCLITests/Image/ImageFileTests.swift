import Foundation
import Testing

@testable import AfarCLI

struct ImageFileTests {
    @Test func aDirectoryIsNotAnImageFile() throws {
        let directory = try ScratchDirectory()
        #expect(ImageFile(existingAt: directory.url.path) == nil)
        let file = directory.url.appending(path: "a.png")
        #expect(ImageFile(existingAt: file.path) == nil)
        try Data([0]).write(to: file)
        #expect(ImageFile(existingAt: file.path)?.path == file.path)
        #expect(ImageFile(existingAt: "file://\(file.path)") == nil)
    }
}
