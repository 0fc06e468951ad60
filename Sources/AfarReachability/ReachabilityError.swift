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

/// An error that occurs when the system's network tables can't be read.
public struct ReachabilityError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The action that failed, worded to follow "Could not".
    public let action: String

    /// The system's error number.
    public let errorNumber: Int32

    /// The action that failed and the system's message, in one line.
    public var description: String {
        "Could not \(action): \(String(cString: strerror(errorNumber)))"
    }
}

#if os(Linux)
    extension ReachabilityError {
        /// Creates an error from `errno`.
        init(_ action: String) { self.init(action, errno) }

        init(_ action: String, _ number: Int32) { self.init(action: action, errorNumber: number) }
    }

    extension ReachabilityError {
        /// The delay before a retry after a temporary error.
        static let retryDelay = Duration.seconds(5)

        /// Whether the error is temporary, so that a retry can succeed. A denied permission isn't temporary.
        var isTemporary: Bool { isLackingDescriptors || [ENOBUFS, ENOMEM, EAGAIN, ETIMEDOUT].contains(errorNumber) }

        /// Whether the process or the machine has no file descriptor left.
        var isLackingDescriptors: Bool { errorNumber == EMFILE || errorNumber == ENFILE }
    }
#endif
