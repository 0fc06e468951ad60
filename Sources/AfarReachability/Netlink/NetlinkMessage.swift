#if os(Linux)
    import CNetlink

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
#endif
