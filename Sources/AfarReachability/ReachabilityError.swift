#if os(Linux)
    import CNetlink
#endif

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// Why the system's tables could not be read.
public struct ReachabilityError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What was being done, as words that follow 'could not'.
    public let action: String

    /// The number of the system's error.
    public let errorNumber: Int32

    /// What was being done, and what the system said, in one line.
    public var description: String {
        "Could not \(action): \(String(cString: strerror(errorNumber)))"
    }
}

#if os(Linux)
    extension ReachabilityError {
        /// What the system's last call failed with.
        init(_ action: String) { self.init(action, errno) }

        init(_ action: String, _ number: Int32) { self.init(action: action, errorNumber: number) }
    }

    extension ReachabilityError {
        /// How long to wait before a new try, when the error may go away by itself.
        static let retryDelay = Duration.seconds(5)

        /// Whether it may go away by itself, other than a prohibition.
        var isPassing: Bool { isLackOfDescriptors || [ENOBUFS, ENOMEM, EAGAIN, ETIMEDOUT].contains(errorNumber) }

        /// Whether the process or the machine has no descriptor left.
        var isLackOfDescriptors: Bool { errorNumber == EMFILE || errorNumber == ENFILE }
    }
#endif
