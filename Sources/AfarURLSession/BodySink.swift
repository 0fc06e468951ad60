import AfarTransport
import Foundation

/// Where the bytes of a response's body go.
enum BodySink {
    case memory(Data)
    case file(descriptor: Int32)
    case stream(ResponseBodyStream.Source)

    /// Writes all of `data`, and returns the `errno` of a failure.
    static func deliver(_ data: Data, to descriptor: Int32) -> Int32? {
        data.withUnsafeBytes { $0.write(to: descriptor) }
    }
}
