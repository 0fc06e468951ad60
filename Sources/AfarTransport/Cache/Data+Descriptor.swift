package import Foundation

extension Data {
    /// The bytes that were written to a file last; nil when they cannot be read.
    package init?(lastBytes count: Int, of descriptor: Int32) {
        let end = lseek(descriptor, 0, SEEK_CUR)
        guard count > 0, end >= count else { return nil }
        var data = Data(count: count)
        let read = data.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, count, end - off_t(count)) }
        guard read == count else { return nil }
        self = data
    }
}
