#if os(Linux)
    import CNetlink
    #if canImport(Glibc)
        import Glibc
    #elseif canImport(Musl)
        import Musl
    #endif

    /// A netlink socket. Only one thread at a time can use it.
    final class NetlinkSocket {
        let descriptor: Int32
        /// Whether messages from senders other than the kernel are discarded. Any process can send to a netlink socket.
        private let checksSender: Bool
        private var sequence: UInt32 = 0
        private var buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 8)

        /// Opens a socket for a protocol such as `NETLINK_ROUTE` and subscribes to the multicast groups of a bit mask.
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

        /// Uses one end of a socket pair. The other end takes the role of the kernel.
        init(pairedTo descriptor: Int32) {
            self.descriptor = descriptor
            checksSender = false
        }

        deinit {
            if descriptor >= 0 { close(descriptor) }
            buffer.deallocate()
        }

        /// Reads one datagram and passes it to `body`.
        ///
        /// - Returns: `false` if no datagram is available.
        /// - Throws: `ENOBUFS` if messages were lost.
        func receive(_ body: (NetlinkBytes) -> Void) throws(ReachabilityError) -> Bool {
            while true {
                // Most datagrams have up to 32 KiB, but messages can be longer.
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

        /// Reads the next datagram and truncates it to the buffer's size. Returns the datagram's full length, or `nil`
        /// if no datagram is available.
        private func read(
            into buffer: UnsafeMutableRawBufferPointer?, flags: Int32, from sender: inout sockaddr_nl
        ) throws(ReachabilityError) -> Int? {
            let flags = flags | Int32(MSG_TRUNC)
            while true {
                var size = socklen_t(MemoryLayout<sockaddr_nl>.size)
                // If the datagram has no sender, this value remains. The kernel's ID is 0.
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

        /// Sends a request and passes each message of the response to `body`.
        ///
        /// - Returns: `false` if the tables changed while the kernel created the response.
        /// - Throws: The error of the response, or `ETIMEDOUT` after two seconds without a response.
        func request(_ request: NetlinkRequest, isDump: Bool = true, _ body: (NetlinkMessage) -> Void)
            throws(ReachabilityError) -> Bool
        {
            sequence &+= 1
            let bytes = request.finished(sequence: sequence)
            guard send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count else {
                throw ReachabilityError("send a request to the kernel")
            }
            var isSettled = true
            var ending: Int32?
            while ending == nil {
                let hasReceived = try receive { datagram in
                    for message in NetlinkMessages(datagram) where message.sequence == sequence {
                        if message.isInterrupted { isSettled = false }
                        ending = ending ?? message.ending
                        guard ending == nil, message.type >= NLMSG_MIN_TYPE else { continue }
                        body(message)
                        if !isDump { ending = 0 }
                    }
                }
                if ending == nil, !hasReceived { try waitForResponse() }
            }
            guard let ending, ending == 0 else { throw ReachabilityError("read the kernel's tables", ending ?? EIO) }
            return isSettled
        }

        private func waitForResponse() throws(ReachabilityError) {
            var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            let count = poll(&entry, 1, 2000)
            if count == 0 { throw ReachabilityError("get a response from the kernel", ETIMEDOUT) }
            if count < 0, errno != EINTR { throw ReachabilityError("wait for the kernel") }
        }

        private func grow(to count: Int) {
            buffer.deallocate()
            buffer = .allocate(byteCount: count * 2, alignment: 8)
        }
    }

    // MARK: - Requests

    /// A builder for a request message.
    struct NetlinkRequest {
        private(set) var bytes: [UInt8] = []

        /// Starts a message with the header and `body`, the fixed part that precedes the attributes.
        init(type: Int, flags: Int32, body: [UInt8]) {
            append(UInt32(0))
            append(UInt16(truncatingIfNeeded: type))
            append(UInt16(truncatingIfNeeded: NLM_F_REQUEST | flags))
            append(UInt32(0))
            append(UInt32(0))
            bytes += body
            pad()
        }

        mutating func attribute(_ type: Int, _ value: [UInt8]) {
            append(UInt16(truncatingIfNeeded: value.count + 4))
            append(UInt16(truncatingIfNeeded: type))
            bytes += value
            pad()
        }

        /// Returns the bytes to send, with their length and the sequence number that the response repeats.
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

        /// Requests the rules of one family. A request for all families wouldn't reveal which of them have no rules.
        static func rules(_ family: IPAddress.Family) -> NetlinkRequest {
            NetlinkRequest(type: RTM_GETRULE, flags: NLM_F_DUMP, body: [family.kernelNumber] + zeros(11))
        }

        static var routes: NetlinkRequest { NetlinkRequest(type: RTM_GETROUTE, flags: NLM_F_DUMP, body: zeros(12)) }

        /// Requests the route to one address.
        static func route(to address: IPAddress) -> NetlinkRequest {
            let body = [address.family.kernelNumber, UInt8(address.family.bitCount)] + zeros(10)
            var request = NetlinkRequest(type: RTM_GETROUTE, flags: 0, body: body)
            request.attribute(Int(RTA_DST.rawValue), address.bytes)
            return request
        }

        /// Requests all generic netlink families. A request for a family by name would make the kernel load its module.
        static var families: NetlinkRequest {
            NetlinkRequest(type: Int(GENL_ID_CTRL), flags: NLM_F_DUMP, body: [UInt8(CTRL_CMD_GETFAMILY), 1, 0, 0])
        }

        /// Requests all wireless interfaces.
        static func wirelessInterfaces(family: UInt16) -> NetlinkRequest {
            let command = UInt8(truncatingIfNeeded: NL80211_CMD_GET_INTERFACE.rawValue)
            return NetlinkRequest(type: Int(family), flags: NLM_F_DUMP, body: [command, 0, 0, 0])
        }

        private static func zeros(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }
    }

    // MARK: - Messages

    /// A netlink message.
    struct NetlinkMessage {
        static let headerSize = 16

        let type: UInt16
        let flags: UInt16
        let sequence: UInt32
        let payload: NetlinkBytes

        /// Whether the tables changed while the response was created. The response can then be inconsistent.
        var isInterrupted: Bool { flags & UInt16(NLM_F_DUMP_INTR) != 0 }

        /// The error number at the end of a response, 0 for success, or `nil` if this message isn't the end.
        var ending: Int32? {
            guard Int32(type) == NLMSG_ERROR || Int32(type) == NLMSG_DONE else { return nil }
            // Error numbers are negative. NLMSG_DONE without a number means success.
            guard let number = payload.load(at: 0, as: Int32.self) else { return Int32(type) == NLMSG_DONE ? 0 : EIO }
            return number == .min ? EIO : abs(number)
        }
    }

    /// The messages of a datagram, up to its end or the first message with an invalid length.
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
            // The last message can lack its padding.
            rest = rest.dropFirst(Swift.min(aligned(length), rest.count)) ?? rest
            return NetlinkMessage(type: type, flags: flags, sequence: sequence, payload: payload)
        }
    }

    /// Returns a length rounded up to the alignment of messages and attributes.
    func aligned(_ length: Int) -> Int { (length + 3) & ~3 }

    // MARK: - Attributes

    /// A typed value in a message.
    struct NetlinkAttribute {
        let type: Int
        let value: NetlinkBytes
    }

    /// A list of attributes, up to its end or the first attribute with an invalid length.
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
            // The two upper bits are flags for the format of the value.
            return NetlinkAttribute(type: Int(type & 0x3FFF), value: value)
        }
    }
#endif

// MARK: - Bytes

/// Bytes from the kernel with bounds-checked access. They are valid only while the buffer exists, so callers copy what
/// they read.
struct NetlinkBytes {
    private let buffer: UnsafeRawBufferPointer

    init(_ buffer: UnsafeRawBufferPointer) { self.buffer = buffer }

    var count: Int { buffer.count }

    /// Returns the number at an offset in native byte order, or `nil` if the number extends beyond the bytes.
    func load<Number: FixedWidthInteger>(at offset: Int, as type: Number.Type = Number.self) -> Number? {
        guard offset >= 0, offset <= count - MemoryLayout<Number>.size else { return nil }
        return buffer.loadUnaligned(fromByteOffset: offset, as: Number.self)
    }

    /// Returns the bytes that follow an offset, or `nil` if the offset is out of bounds.
    func dropFirst(_ offset: Int) -> NetlinkBytes? {
        guard offset >= 0, offset <= count else { return nil }
        return NetlinkBytes(UnsafeRawBufferPointer(rebasing: buffer[offset...]))
    }

    /// Returns `length` bytes from an offset, or `nil` if the range is out of bounds.
    func slice(_ offset: Int, count length: Int) -> NetlinkBytes? {
        guard offset >= 0, length >= 0, offset <= count, length <= count - offset else { return nil }
        return NetlinkBytes(UnsafeRawBufferPointer(rebasing: buffer[offset..<offset + length]))
    }

    /// The text up to a zero byte or the end.
    var string: String { String(decoding: buffer.prefix { $0 != 0 }, as: UTF8.self) }

    /// The address, if there are exactly 4 or 16 bytes.
    var address: IPAddress? { IPAddress(bytes: buffer) }

    /// Returns the address at the start of the bytes, or `nil` if the bytes are too short. There can be more bytes,
    /// because some kernels use 16 bytes for IPv4.
    func address(_ family: IPAddress.Family) -> IPAddress? {
        slice(0, count: family.bitCount / 8)?.address
    }
}
