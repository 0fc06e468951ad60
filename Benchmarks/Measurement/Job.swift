public import Foundation

/// A client's command line: `client ACTION URL FILE REQUESTS WARM-UP IN-FLIGHT CONNECTIONS`.
public struct Job: Sendable {
    /// The way each request or response is handled.
    public enum Action: String, Sendable {
        /// Reads the body into memory.
        case get
        /// Reads the body into memory, with the client's transport alone.
        case exchange
        /// Decodes the body from JSON.
        case decode
        /// Writes the body to the file.
        case download
        /// Reads and discards the body.
        case discard
        /// Uploads the file.
        case upload
        /// Uploads the file as a stream.
        case sendStream
        /// Uploads the file as part of a form.
        case sendForm
        /// Reads the body and pauses for a millisecond after each chunk.
        case linger
    }

    /// An error that indicates that a client doesn't implement an action. Bench never requests such an action.
    public struct Unable: Error {
        /// Creates the error.
        public init() {}
    }

    /// The action to perform.
    public let action: Action
    /// The URL to request.
    public let url: URL
    /// The file to download to or to upload.
    public let file: URL
    /// The number of measured requests.
    public let requests: Int
    /// The number of requests before the measurement.
    public let warmUp: Int
    /// The number of concurrent tasks.
    public let inFlight: Int
    /// The maximum number of open connections.
    public let connections: Int

    /// Parses the command line. Returns `nil` if the arguments are invalid.
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
