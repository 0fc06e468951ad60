public import AfarCore
public import Foundation

/// Reads each chunk of a streamed response as UTF-8 text, by itself: a character that lies across two chunks is lost.
/// ``DataStreamRequest/responseStreamString(on:stream:)`` keeps it whole.
public struct StringStreamSerializer: DataStreamSerializer {
    /// Makes the serializer.
    public init() {}

    /// The text. What is no UTF-8 becomes U+FFFD.
    public func serialize(_ data: Data) throws -> String { String(decoding: data, as: UTF8.self) }
}

extension DataStreamSerializer where Self == StringStreamSerializer {
    /// Reads each chunk as UTF-8 text.
    public static var string: StringStreamSerializer { StringStreamSerializer() }
}
