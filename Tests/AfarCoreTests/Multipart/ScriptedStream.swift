import Foundation

/// An input stream whose bytes a closure provides.
final class ScriptedStream: InputStream {
    private let reading: (_ buffer: UnsafeMutablePointer<UInt8>, _ capacity: Int) -> Int

    init(_ reading: @escaping (_ buffer: UnsafeMutablePointer<UInt8>, _ capacity: Int) -> Int) {
        self.reading = reading
        super.init(data: Data())
    }

    override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength len: Int) -> Int { reading(buffer, len) }

    override var streamError: (any Error)? { ReadError() }

    struct ReadError: Error {}
}

/// A temporary directory that is removed when the object is deallocated.
final class Scratch: Sendable {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent("afar-multipart-\(UUID().uuidString)")

    init() { try? FileManager.default.createDirectory(at: url, withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(at: url) }

    /// Creates a file in the directory.
    func file(_ name: String, _ bytes: Data = Data("content".utf8)) throws -> URL {
        let file = url.appendingPathComponent(name)
        try bytes.write(to: file)
        return file
    }
}

/// Returns the files that this process has open.
func openFiles() -> [(descriptor: Int32, path: String)] {
    let directory = "/proc/self/fd"
    return ((try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []).compactMap { name in
        guard let path = try? FileManager.default.destinationOfSymbolicLink(atPath: "\(directory)/\(name)") else {
            return nil
        }
        return Int32(name).map { ($0, path) }
    }
}
