import AfarCore
import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Where the body of a mocked response goes.
enum MockSink {
    case memory(Data)
    case file(descriptor: Int32, count: Int64)
    case stream(ResponseBodyStream.Source)

    init(_ delivery: ResponseDelivery) {
        if case .file(let descriptor, _) = delivery {
            self = .file(descriptor: descriptor, count: 0)
        } else {
            self = .memory(Data())
        }
    }

    /// Adds a chunk, and returns the `errno` of a failure.
    mutating func add(_ chunk: Data) -> Int32? {
        switch self {
        case .memory(let data):
            self = .memory(data + chunk)
        case .file(let descriptor, let count):
            var rest = chunk
            while !rest.isEmpty {
                let written = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
                if written < 0, errno != EINTR { return errno }
                rest = rest.dropFirst(max(written, 0))
            }
            self = .file(descriptor: descriptor, count: count + Int64(chunk.count))
        case .stream(let source):
            source.yield(chunk)
        }
        return nil
    }

    /// The body to return at the end; nil for one that was returned at the head.
    var body: TransportResponse.Body? {
        switch self {
        case .memory(let data): .data(data)
        case .file(_, let count): .file(byteCount: count)
        case .stream: nil
        }
    }
}
