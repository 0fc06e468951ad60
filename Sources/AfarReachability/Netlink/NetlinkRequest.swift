#if os(Linux)
    import CNetlink

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
#endif
