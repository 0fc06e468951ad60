public import AfarCore
public import Foundation

/// An event that a server sent (WHATWG HTML, section 9.2).
public struct ServerSentEvent: Hashable, Sendable {
    /// The event's type; `message` unless the server says otherwise.
    public var event: String
    /// The event's data. Lines are joined with LF.
    public var data: String
    /// The stream's last event ID as of this event: this event's own, else the one that was last sent before; empty when
    /// there was none.
    public var id: String

    /// Makes an event.
    public init(event: String = "message", data: String, id: String = "") {
        self.event = event
        self.data = data
        self.id = id
    }

    /// Decodes a value from the event's data.
    ///
    /// - Parameters:
    ///   - type: What to decode.
    ///   - decoder: Decodes. The default is a `JSONDecoder`.
    /// - Throws: ``AFError/ResponseSerializationFailureReason/decodingFailed(error:)``.
    public func decode<T: Decodable>(
        _ type: T.Type = T.self, using decoder: any DataDecoder = JSONDecoder()
    ) throws(AFError) -> T {
        do {
            return try decoder.decodeChecked(type, from: Data(data.utf8), of: nil)
        } catch {
            throw .responseSerializationFailed(reason: .decodingFailed(error: error))
        }
    }
}
