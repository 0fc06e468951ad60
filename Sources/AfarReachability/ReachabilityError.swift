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
