import Foundation

extension UnsafeRawBufferPointer {
    /// Writes all bytes to an open file, at its current position.
    ///
    /// - Returns: The `errno` if writing failed; nil if all bytes were written.
    package func write(to descriptor: Int32) -> Int32? {
        var rest = self
        while !rest.isEmpty {
            let count = Foundation.write(descriptor, rest.baseAddress, rest.count)
            if count < 0, errno != EINTR { return errno }
            rest = UnsafeRawBufferPointer(rebasing: rest[Swift.max(count, 0)...])
        }
        return nil
    }
}
