import Foundation

extension Socket {
    /// Binds to a free port of 127.0.0.1 and returns it.
    /// - Parameter port: 0 for any that is free.
    /// - Returns: The port.
    func bindToLoopback(port: UInt16 = 0) throws -> UInt16 {
        try withLoopbackAddress(port: port) { address, length in
            guard bind(descriptor, address, length) == 0 else { throw SocketFailure("bind") }
        }
        var bound = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafeMutablePointer(to: &bound) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
        }
        guard result == 0 else { throw SocketFailure("getsockname") }
        return UInt16(bigEndian: bound.sin_port)
    }

    func listen(backlog: Int32) throws {
        guard Foundation.listen(descriptor, backlog) == 0 else { throw SocketFailure("listen") }
    }

    /// Connects to a port of 127.0.0.1; a non-blocking socket only begins to.
    func connect(port: UInt16) throws {
        try withLoopbackAddress(port: port) { address, length in
            guard Foundation.connect(descriptor, address, length) == 0 || errno == EINPROGRESS else {
                throw SocketFailure("connect")
            }
        }
    }

    /// Whether a connect that was begun has completed within the time.
    func isConnected(within seconds: Double) -> Bool {
        var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        return poll(&entry, 1, Int32(seconds * 1000)) > 0
    }

    private func withLoopbackAddress(
        port: UInt16,
        _ body: (UnsafePointer<sockaddr>, socklen_t) throws -> Void
    ) rethrows {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        try withUnsafePointer(to: &address) {
            try $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                try body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }
}
