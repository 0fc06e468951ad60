#if os(Linux)
    import CNetlink
    #if canImport(Glibc)
        import Glibc
    #elseif canImport(Musl)
        import Musl
    #endif

    /// A socket to the kernel. It belongs to one thread at a time.
    final class NetlinkSocket {
        let descriptor: Int32
        /// Whether only messages of the kernel are accepted. Any process may send to a netlink socket.
        private let checksSender: Bool
        private var sequence: UInt32 = 0
        private var buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 8)

        /// Opens a socket for a protocol (`NETLINK_ROUTE`), which receives the changes of the groups of a mask.
        init(protocol number: Int32, groups: UInt32 = 0, receiveBuffer: Int32? = nil) throws(ReachabilityError) {
            descriptor = socket(AF_NETLINK, AFAR_SOCK_NETLINK, number)
            checksSender = true
            guard descriptor >= 0 else { throw ReachabilityError("open a netlink socket") }
            if var size = receiveBuffer {
                _ = setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
            }
            var address = sockaddr_nl()
            address.nl_family = sa_family_t(AF_NETLINK)
            address.nl_groups = groups
            let bound = withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_nl>.size))
                }
            }
            guard bound == 0 else { throw ReachabilityError("bind a netlink socket") }
        }

        /// Takes over one end of a pair of sockets, whose other end plays the kernel.
        init(pairedTo descriptor: Int32) {
            self.descriptor = descriptor
            checksSender = false
        }

        deinit {
            if descriptor >= 0 { close(descriptor) }
            buffer.deallocate()
        }

        /// Reads one datagram, and hands it to `body`.
        ///
        /// - Returns: False when nothing is there to be read.
        /// - Throws: ENOBUFS when messages were lost.
        func receive(_ body: (NetlinkBytes) -> Void) throws(ReachabilityError) -> Bool {
            while true {
                // Most datagrams have up to 32 KiB, but one message may be longer: its length is asked for first.
                var sender = sockaddr_nl()
                guard let length = try read(into: nil, flags: Int32(MSG_PEEK), from: &sender) else { return false }
                if length > buffer.count { grow(to: length) }
                guard let count = try read(into: buffer, flags: 0, from: &sender) else { return false }
                guard count <= buffer.count else { throw ReachabilityError("read a long message", EMSGSIZE) }
                if checksSender, sender.nl_pid != 0 { continue }
                if !checksSender, count == 0 { throw ReachabilityError("read from a netlink socket", ECONNRESET) }
                body(NetlinkBytes(UnsafeRawBufferPointer(rebasing: buffer[..<count])))
                return true
            }
        }

        /// Reads the next datagram as far as there is room for it. Returns its length, or nil where there is none.
        private func read(
            into buffer: UnsafeMutableRawBufferPointer?, flags: Int32, from sender: inout sockaddr_nl
        ) throws(ReachabilityError) -> Int? {
            let flags = flags | Int32(MSG_TRUNC)
            while true {
                var size = socklen_t(MemoryLayout<sockaddr_nl>.size)
                // Where no sender is told, this stays, and it is not the kernel.
                sender.nl_pid = .max
                let count = withUnsafeMutablePointer(to: &sender) {
                    $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                        recvfrom(descriptor, buffer?.baseAddress, buffer?.count ?? 0, flags, $0, &size)
                    }
                }
                if count >= 0 { return count }
                if errno == EAGAIN || errno == EWOULDBLOCK { return nil }
                if errno != EINTR { throw ReachabilityError("read from a netlink socket") }
            }
        }

        /// Sends a request, and hands each message of the answer to `body`.
        ///
        /// - Returns: Whether nothing changed while the kernel made the answer.
        /// - Throws: The error that the kernel answered with, or ETIMEDOUT after two seconds of silence.
        func ask(_ request: NetlinkRequest, isDump: Bool = true, _ body: (NetlinkMessage) -> Void)
            throws(ReachabilityError) -> Bool
        {
            sequence &+= 1
            let bytes = request.finished(sequence: sequence)
            guard send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count else {
                throw ReachabilityError("ask the kernel")
            }
            var isSettled = true
            var ending: Int32?
            while ending == nil {
                let isThere = try receive { datagram in
                    for message in NetlinkMessages(datagram) where message.sequence == sequence {
                        if message.isInterrupted { isSettled = false }
                        ending = ending ?? message.ending
                        guard ending == nil, message.type >= NLMSG_MIN_TYPE else { continue }
                        body(message)
                        if !isDump { ending = 0 }
                    }
                }
                if ending == nil, !isThere { try awaitAnswer() }
            }
            guard let ending, ending == 0 else { throw ReachabilityError("read the kernel's tables", ending ?? EIO) }
            return isSettled
        }

        private func awaitAnswer() throws(ReachabilityError) {
            var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            let count = poll(&entry, 1, 2000)
            if count == 0 { throw ReachabilityError("get an answer from the kernel", ETIMEDOUT) }
            if count < 0, errno != EINTR { throw ReachabilityError("wait for the kernel") }
        }

        private func grow(to count: Int) {
            buffer.deallocate()
            buffer = .allocate(byteCount: count * 2, alignment: 8)
        }
    }

    extension ReachabilityError {
        /// What the system's last call failed with.
        init(_ action: String) { self.init(action, errno) }

        init(_ action: String, _ number: Int32) { self.init(action: action, errorNumber: number) }
    }
#endif
