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

    // MARK: - Requests

    /// A message to the kernel in the making.
    struct NetlinkRequest {
        private(set) var bytes: [UInt8] = []

        /// Begins with the header and the fixed part that messages of the type have, as so many bytes.
        init(type: Int, flags: Int32, body: [UInt8]) {
            append(UInt32(0))
            append(UInt16(truncatingIfNeeded: type))
            append(UInt16(truncatingIfNeeded: NLM_F_REQUEST | flags))
            append(UInt32(0))
            append(UInt32(0))
            bytes += body
            pad()
        }

        /// Adds an attribute.
        mutating func attribute(_ type: Int, _ value: [UInt8]) {
            append(UInt16(truncatingIfNeeded: value.count + 4))
            append(UInt16(truncatingIfNeeded: type))
            bytes += value
            pad()
        }

        /// The bytes to send, with their length and a number that the answer repeats.
        func finished(sequence: UInt32) -> [UInt8] {
            var bytes = bytes
            bytes.withUnsafeMutableBytes { buffer in
                buffer.storeBytes(of: UInt32(truncatingIfNeeded: buffer.count), as: UInt32.self)
                buffer.storeBytes(of: sequence, toByteOffset: 8, as: UInt32.self)
            }
            return bytes
        }

        private mutating func append(_ number: some FixedWidthInteger) {
            withUnsafeBytes(of: number) { bytes += $0 }
        }

        private mutating func pad() {
            bytes += [UInt8](repeating: 0, count: aligned(bytes.count) - bytes.count)
        }
    }

    extension NetlinkRequest {
        static var links: NetlinkRequest {
            var request = NetlinkRequest(type: RTM_GETLINK, flags: NLM_F_DUMP, body: zeros(16))
            let filter = UInt32(RTEXT_FILTER_SKIP_STATS)
            request.attribute(IFLA_EXT_MASK, withUnsafeBytes(of: filter) { Array($0) })
            return request
        }

        static var addresses: NetlinkRequest { NetlinkRequest(type: RTM_GETADDR, flags: NLM_F_DUMP, body: zeros(8)) }

        /// Asks for the rules of one family. Without one, the kernel would not say which families have none.
        static func rules(_ family: IPAddress.Family) -> NetlinkRequest {
            NetlinkRequest(type: RTM_GETRULE, flags: NLM_F_DUMP, body: [family.kernelNumber] + zeros(11))
        }

        static var routes: NetlinkRequest { NetlinkRequest(type: RTM_GETROUTE, flags: NLM_F_DUMP, body: zeros(12)) }

        /// Asks for the way to one address.
        static func route(to address: IPAddress) -> NetlinkRequest {
            let body = [address.family.kernelNumber, UInt8(address.family.bitCount)] + zeros(10)
            var request = NetlinkRequest(type: RTM_GETROUTE, flags: 0, body: body)
            request.attribute(Int(RTA_DST.rawValue), address.bytes)
            return request
        }

        /// Asks for all families of generic netlink messages. One that is asked for by its name would be loaded by the kernel.
        static var families: NetlinkRequest {
            NetlinkRequest(type: Int(GENL_ID_CTRL), flags: NLM_F_DUMP, body: [UInt8(CTRL_CMD_GETFAMILY), 1, 0, 0])
        }

        /// Asks for all wireless interfaces.
        static func wirelessInterfaces(family: UInt16) -> NetlinkRequest {
            let command = UInt8(truncatingIfNeeded: NL80211_CMD_GET_INTERFACE.rawValue)
            return NetlinkRequest(type: Int(family), flags: NLM_F_DUMP, body: [command, 0, 0, 0])
        }

        private static func zeros(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }
    }

    // MARK: - Messages

    /// One message of a datagram.
    struct NetlinkMessage {
        static let headerSize = 16

        let type: UInt16
        let flags: UInt16
        let sequence: UInt32
        let payload: NetlinkBytes

        /// Whether the tables changed while this answer was made, so that it may be at odds with itself.
        var isInterrupted: Bool { flags & UInt16(NLM_F_DUMP_INTR) != 0 }

        /// The number of the error that an answer ends with, 0 for an end in peace; nil when this is not the end.
        var ending: Int32? {
            guard Int32(type) == NLMSG_ERROR || Int32(type) == NLMSG_DONE else { return nil }
            // The kernel tells errors as negative numbers. An end without a number has gone well.
            guard let number = payload.load(at: 0, as: Int32.self) else { return Int32(type) == NLMSG_DONE ? 0 : EIO }
            return number == .min ? EIO : abs(number)
        }
    }

    /// The messages of a datagram, up to its end or to the first whose length is not true.
    struct NetlinkMessages: Sequence, IteratorProtocol {
        private var rest: NetlinkBytes

        init(_ bytes: NetlinkBytes) { rest = bytes }

        mutating func next() -> NetlinkMessage? {
            guard
                let length: UInt32 = rest.load(at: 0), let type: UInt16 = rest.load(at: 4),
                let flags: UInt16 = rest.load(at: 6), let sequence: UInt32 = rest.load(at: 8),
                let length = Int(exactly: length), length >= NetlinkMessage.headerSize,
                let message = rest.slice(0, count: length),
                let payload = message.dropFirst(NetlinkMessage.headerSize)
            else { return nil }
            // The last message need not be padded.
            rest = rest.dropFirst(Swift.min(aligned(length), rest.count)) ?? rest
            return NetlinkMessage(type: type, flags: flags, sequence: sequence, payload: payload)
        }
    }

    /// A length rounded up to where the next message or attribute begins.
    func aligned(_ length: Int) -> Int { (length + 3) & ~3 }

    // MARK: - Attributes

    /// A typed value inside a message.
    struct NetlinkAttribute {
        let type: Int
        let value: NetlinkBytes
    }

    /// Attributes, one after the other, up to the end or to the first whose length is not true.
    struct NetlinkAttributes: Sequence, IteratorProtocol {
        private static let headerSize = 4

        private var rest: NetlinkBytes?

        init(_ bytes: NetlinkBytes?) { rest = bytes }

        mutating func next() -> NetlinkAttribute? {
            guard
                let bytes = rest, let length: UInt16 = bytes.load(at: 0), let type: UInt16 = bytes.load(at: 2),
                length >= Self.headerSize, let whole = bytes.slice(0, count: Int(length)),
                let value = whole.dropFirst(Self.headerSize)
            else { return nil }
            rest = bytes.dropFirst(Swift.min(aligned(Int(length)), bytes.count))
            // The two upper bits say how the value is to be read.
            return NetlinkAttribute(type: Int(type & 0x3FFF), value: value)
        }
    }
#endif

// MARK: - Bytes

/// Bytes that the kernel sent, with every access checked. They are only valid while the buffer is, so what is read is copied.
struct NetlinkBytes {
    private let buffer: UnsafeRawBufferPointer

    init(_ buffer: UnsafeRawBufferPointer) { self.buffer = buffer }

    var count: Int { buffer.count }

    /// The number at an offset in the machine's byte order, or nil where there are not enough bytes.
    func load<Number: FixedWidthInteger>(at offset: Int, as type: Number.Type = Number.self) -> Number? {
        guard offset >= 0, offset <= count - MemoryLayout<Number>.size else { return nil }
        return buffer.loadUnaligned(fromByteOffset: offset, as: Number.self)
    }

    /// The bytes from an offset on, or nil where the offset is past the end.
    func dropFirst(_ offset: Int) -> NetlinkBytes? {
        guard offset >= 0, offset <= count else { return nil }
        return NetlinkBytes(UnsafeRawBufferPointer(rebasing: buffer[offset...]))
    }

    /// So many bytes from an offset on, or nil where there are less.
    func slice(_ offset: Int, count length: Int) -> NetlinkBytes? {
        guard offset >= 0, length >= 0, offset <= count, length <= count - offset else { return nil }
        return NetlinkBytes(UnsafeRawBufferPointer(rebasing: buffer[offset..<offset + length]))
    }

    /// The text up to a zero byte or the end.
    var string: String { String(decoding: buffer.prefix { $0 != 0 }, as: UTF8.self) }

    /// The address that the bytes are; 4 or 16 of them.
    var address: IPAddress? { IPAddress(bytes: buffer) }

    /// The address that the bytes begin with: a kernel may send 16 for an IPv4 address, or cut zeros off.
    func address(_ family: IPAddress.Family) -> IPAddress? {
        slice(0, count: family.bitCount / 8)?.address
    }
}
