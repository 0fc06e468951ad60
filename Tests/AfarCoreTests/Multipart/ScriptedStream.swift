import Foundation

/// An input stream that is read by a closure.
final class ScriptedStream: InputStream {
    private let reading: (_ buffer: UnsafeMutablePointer<UInt8>, _ capacity: Int) -> Int

    init(_ reading: @escaping (_ buffer: UnsafeMutablePointer<UInt8>, _ capacity: Int) -> Int) {
        self.reading = reading
        super.init(data: Data())
    }

    override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength len: Int) -> Int { reading(buffer, len) }

    override var streamError: (any Error)? { Torn() }

    struct Torn: Error {}
}

/// A directory that is removed with this value.
final class Scratch: Sendable {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent("afar-multipart-\(UUID().uuidString)")

    init() { try? FileManager.default.createDirectory(at: url, withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(at: url) }

    /// A file in it, with these bytes.
    func file(_ name: String, _ bytes: Data = Data("content".utf8)) throws -> URL {
        let file = url.appendingPathComponent(name)
        try bytes.write(to: file)
        return file
    }
}

/// The files that this process has open, by descriptor.
func openFiles() -> [(descriptor: Int32, path: String)] {
    let directory = "/proc/self/fd"
    return ((try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []).compactMap { name in
        guard let path = try? FileManager.default.destinationOfSymbolicLink(atPath: "\(directory)/\(name)") else {
            return nil
        }
        return Int32(name).map { ($0, path) }
    }
}
