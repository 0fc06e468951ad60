#if os(Linux)
    import CNetlink

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
