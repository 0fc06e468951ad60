#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// The differences between operating systems. All descriptors are closed on exec.
///
/// Otherwise, child processes, such as a test's command-line client, would inherit descriptors and keep connections open after the
/// server has closed them.
enum SocketPlatform {
    #if canImport(Darwin)
        static let streamType = SOCK_STREAM
        /// Darwin has no flag that suppresses SIGPIPE. It has the socket option SO_NOSIGPIPE instead.
        static let sendFlags: Int32 = 0
        static let peerClosedEvent = Int16(POLLHUP)
    #else
        static let streamType = Int32(SOCK_STREAM.rawValue)
        static let sendFlags = Int32(MSG_NOSIGNAL)
        /// POLLRDHUP, a GNU extension that Swift's Glibc module hides.
        static let peerClosedEvent: Int16 = 0x2000
    #endif

    static func openStream() -> Int32 {
        closeOnExec(socket(AF_INET, streamType, 0))
    }

    static func acceptConnection(_ listener: Int32) -> Int32 {
        let descriptor = closeOnExec(accept(listener, nil, nil))
        // On Darwin an accepted socket inherits the listener's non-blocking mode.
        if descriptor >= 0 { _ = fcntl(descriptor, F_SETFL, 0) }
        return descriptor
    }

    static func openPipe(_ ends: inout [Int32]) -> Int32 {
        let result = pipe(&ends)
        if result == 0 { ends.forEach { _ = fcntl($0, F_SETFD, FD_CLOEXEC) } }
        return result
    }

    private static func closeOnExec(_ descriptor: Int32) -> Int32 {
        guard descriptor >= 0 else { return descriptor }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        #if canImport(Darwin)
            var on: Int32 = 1
            _ = setsockopt(descriptor, SOL_SOCKET, SO_NOSIGPIPE, &on, socklen_t(MemoryLayout<Int32>.size))
        #endif
        return descriptor
    }
}
