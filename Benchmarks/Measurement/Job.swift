public import Foundation

/// What the driver asks of a client: `client ACTION URL FILE REQUESTS WARM-UP IN-FLIGHT CONNECTIONS`.
public struct Job: Sendable {
    /// What is done with each response, or request.
    public enum Action: String, Sendable {
        /// The body is read into memory.
        case get
        /// The body is decoded from JSON.
        case decode
        /// The body is written to the file.
        case download
        /// The body is read and thrown away.
        case discard
        /// The file is sent.
        case upload
        /// The file is sent as a stream.
        case sendStream
        /// The file is sent as a part of a form.
        case sendForm
        /// The body is read with a pause of a millisecond after each chunk.
        case linger
    }

    /// Why a client does not do an action; Bench does not ask for it.
    public struct Unable: Error {
        /// Makes the error.
        public init() {}
    }

    /// What to do.
    public let action: Action
    /// Where the requests go.
    public let url: URL
    /// Where a download is written to, or an upload read from.
    public let file: URL
    /// The requests to measure.
    public let requests: Int
    /// The requests made before that.
    public let warmUp: Int
    /// The tasks that make requests at once.
    public let inFlight: Int
    /// The connections that the client may have open.
    public let connections: Int

    /// Reads the command line; nil when it is none of the driver's.
    init?(_ arguments: [String]) {
        guard arguments.count == 8,
            let action = Action(rawValue: arguments[1]),
            let url = URL(string: arguments[2]),
            let requests = Int(arguments[4]), let warmUp = Int(arguments[5]),
            let inFlight = Int(arguments[6]), let connections = Int(arguments[7]), inFlight > 0
        else { return nil }
        self.action = action
        self.url = url
        file = URL(filePath: arguments[3])
        self.requests = requests
        self.warmUp = warmUp
        self.inFlight = inFlight
        self.connections = connections
    }
}
