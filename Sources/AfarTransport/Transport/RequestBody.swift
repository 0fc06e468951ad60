public import Foundation

/// A request's body: where its bytes come from, how many they are, and whether they can be sent again.
public enum RequestBody: Sendable {
    /// No body.
    case none
    /// Bytes in memory.
    case data(Data)
    /// A whole file, read while it is sent. Its length is taken when the exchange begins.
    case file(URL)
    /// Chunks made while they are sent.
    case stream(RequestBodyStream)

    /// The length in bytes, or nil when it is not known before the end (the body then goes out chunked).
    public var length: Int64? {
        switch self {
        case .none: 0
        case .data(let data): Int64(data.count)
        case .file(let url):
            (try? FileManager.default.attributesOfItem(atPath: url.path)[.size] as? NSNumber)?.int64Value
        case .stream(let stream): stream.length
        }
    }

    /// Whether the same bytes can be sent a second time, after a redirect or for a retry.
    public var isReplayable: Bool {
        switch self {
        case .none, .data, .file: true
        case .stream(let stream): stream.isReplayable
        }
    }

    /// Whether there is no body at all. An empty `.data` is a body (of no bytes).
    public var isNone: Bool {
        if case .none = self { true } else { false }
    }
}
