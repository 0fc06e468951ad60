import AfarCore
import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Where the bytes of a response's body go.
enum BodySink {
    case memory(Data)
    case file(descriptor: Int32)
    case stream(ResponseBodyStream.Source)

    /// Writes all of `data`, and returns the `errno` of a failure.
    static func deliver(_ data: Data, to descriptor: Int32) -> Int32? {
        data.withUnsafeBytes { bytes in
            var offset = 0
            while offset < bytes.count {
                let count = write(descriptor, bytes.baseAddress?.advanced(by: offset), bytes.count - offset)
                if count < 0, errno != EINTR { return errno }
                offset += max(count, 0)
            }
            return nil
        }
    }
}
