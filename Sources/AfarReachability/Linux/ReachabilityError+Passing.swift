#if os(Linux)
    import CNetlink

    extension ReachabilityError {
        /// How long to wait before a new try, when the error may go away by itself.
        static let retryDelay = Duration.seconds(5)

        /// Whether it may go away by itself, other than a prohibition.
        var isPassing: Bool { isLackOfDescriptors || [ENOBUFS, ENOMEM, EAGAIN, ETIMEDOUT].contains(errorNumber) }

        /// Whether the process or the machine has no descriptor left.
        var isLackOfDescriptors: Bool { errorNumber == EMFILE || errorNumber == ENFILE }
    }
#endif
