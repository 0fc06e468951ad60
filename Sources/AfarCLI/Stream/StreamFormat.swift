/// What a response that is printed while it comes consists of.
enum StreamFormat {
    case bytes
    /// Server-sent events, for people to read.
    case events
    /// Server-sent events, each a JSON object in a line.
    case jsonEvents

    /// Whether the body has to be a stream of server-sent events.
    var isEvents: Bool { self != .bytes }
}
