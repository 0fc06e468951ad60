extension LoggingMonitor {
    /// How much a monitor writes down.
    public enum Level: String, Sendable, CaseIterable {
        /// One line for each request, when it is over.
        case info
        /// Every step of every attempt too, with the headers.
        case debug
    }
}
