extension LoggingMonitor {
    /// One thing that happened.
    public struct Entry: Sendable {
        /// ``Level/info`` for what came of a request, ``Level/debug`` for the steps on the way.
        public let level: Level
        /// What happened, in one line: "GET https://example.com/ -> 200, 1.3 kB in 24.1 ms".
        public let message: String
        /// Headers and metrics, one a line; empty for most entries.
        public let details: [String]
        /// The facts by name. All entries have `request` (see ``Request/id``) and `attempt` (counted from 1); what came of
        /// a request has also `method`, `url`, `duration`, and where they are known `status`, `bytes` and `error`. A response
        /// of the session's cache has `cached`, which is `true`.
        public let metadata: [String: String]
        /// Whether the description tells which request is meant.
        let namesRequest: Bool
    }
}

extension LoggingMonitor.Entry: CustomStringConvertible {
    /// The message and the details in lines of their own. Where steps are told, it begins with the first digits of the
    /// request's id, as the steps of several requests mingle.
    public var description: String {
        let id = namesRequest ? metadata["request"].map { "[\($0.prefix(8))] " } ?? "" : ""
        return ([id + message] + details.map { "  \($0)" }).joined(separator: "\n")
    }
}
