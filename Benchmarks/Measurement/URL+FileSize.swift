public import Foundation

extension URL {
    /// The bytes of the file, to see that a download is complete.
    public func fileSize() throws -> Int {
        let size = try FileManager.default.attributesOfItem(atPath: path)[.size] as? NSNumber
        return size?.intValue ?? 0
    }
}
