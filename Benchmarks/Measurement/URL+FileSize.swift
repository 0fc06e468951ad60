public import Foundation

extension URL {
    /// Returns the size of the file in bytes, for checking that a download is complete.
    public func fileSize() throws -> Int {
        let size = try FileManager.default.attributesOfItem(atPath: path)[.size] as? NSNumber
        return size?.intValue ?? 0
    }
}
