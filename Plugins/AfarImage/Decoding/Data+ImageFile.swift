import AfarCore
import Foundation

extension Data {
    /// Reads a file unless it is larger than an image may be.
    ///
    /// - Throws: ``ImageError`` or an `AFError`.
    init(image file: URL, limits: ImageLimits) throws {
        let data: Data
        do {
            let handle = try FileHandle(forReadingFrom: file)
            defer { try? handle.close() }
            let limit = Swift.max(0, limits.maximumBytes)
            // One more than allowed tells that there is more, whatever the size of the file was before.
            data = try handle.read(upToCount: limit == .max ? limit : limit + 1) ?? Data()
        } catch {
            throw AFError.responseSerializationFailed(reason: .inputFileReadFailed(at: file))
        }
        guard data.count <= limits.maximumBytes else { throw ImageError.tooManyBytes(limits) }
        self = data
    }
}
