import Afar
import AfarImage
import Foundation

/// A file with an image, there or to be written.
struct ImageFile {
    let path: String

    init(path: String) { self.path = path }

    /// Makes the file of an argument that may be a URL as well; nil where there is none.
    init?(existingAt path: String) {
        var isDirectory: ObjCBool = false
        guard !path.contains("://"), FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory),
            !isDirectory.boolValue
        else { return nil }
        self.init(path: path)
    }

    /// All bytes, unless they are more than an image may have.
    func read() throws -> Data {
        let limit = ImageLimits().maximumBytes
        guard let handle = FileHandle(forReadingAtPath: path) else {
            throw Failure(.usage, "\(path): \(Failure.systemReason).")
        }
        defer { try? handle.close() }
        do {
            // One more tells that there are too many.
            return try handle.read(upToCount: limit + 1) ?? Data()
        } catch {
            throw Failure(.usage, "\(path) cannot be read: \(error.localizedDescription)")
        }
    }

    /// What writes the format that the file's name ends with.
    func encoder(quality: Int?) throws(Failure) -> any ImageEncoder {
        let suffix = URL(filePath: path).pathExtension.lowercased()
        if ImageFormat.png.fileExtensions.contains(suffix) {
            guard quality == nil else {
                throw Failure(.usage, "PNG keeps every pixel, so --quality does not go with it.")
            }
            return .png
        }
        if ImageFormat.jpeg.fileExtensions.contains(suffix) { return .jpeg(quality: quality ?? 85) }
        if ImageFormat.webP.fileExtensions.contains(suffix) { return .webP(quality: quality ?? 80) }
        throw Failure(.usage, "\(path) does not end as a format that can be written: .png, .jpg or .webp.")
    }

    /// Throws when there is something already that must stay.
    func checkOverwrite(isForced: Bool) throws(Failure) {
        guard !isForced, FileManager.default.fileExists(atPath: path) else { return }
        throw Failure(.usage, "\(path) is there already. Replace it with --force, or name another with -o.")
    }

    func write(_ data: Data, isForced: Bool) throws(Failure) {
        do {
            try data.write(to: URL(filePath: path), options: isForced ? .atomic : .withoutOverwriting)
        } catch {
            throw Failure(.other, "\(path) cannot be written: \(error.localizedDescription)")
        }
    }
}
