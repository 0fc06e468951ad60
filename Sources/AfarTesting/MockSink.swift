import AfarCore
import Foundation

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
            if let code = chunk.withUnsafeBytes({ $0.write(to: descriptor) }) { return code }
            self = .file(descriptor: descriptor, count: count + Int64(chunk.count))
        case .stream(let source):
            source.yield(chunk)
        }
        return nil
    }

    /// The source of a streamed body.
    var source: ResponseBodyStream.Source? {
        if case .stream(let source) = self { source } else { nil }
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
