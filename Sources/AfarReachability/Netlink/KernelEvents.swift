#if os(Linux)
    import CNetlink
    #if canImport(Glibc)
        import Glibc
    #elseif canImport(Musl)
        import Musl
    #endif

    /// Hears from the kernel that something changed.
    ///
    /// The messages tell that much and no more: the kernel takes routes away with their link or their address without a
    /// word, and messages get lost. So what changed is always read anew.
    struct KernelEvents {
        let socket: NetlinkSocket

        private static let groups: [rtnetlink_groups] = [
            RTNLGRP_LINK, RTNLGRP_IPV4_IFADDR, RTNLGRP_IPV6_IFADDR, RTNLGRP_IPV4_ROUTE, RTNLGRP_IPV6_ROUTE,
            RTNLGRP_IPV4_RULE, RTNLGRP_IPV6_RULE, RTNLGRP_NEXTHOP,
        ]

        /// Begins to listen.
        init(receiveBuffer: Int32? = nil) throws(ReachabilityError) {
            let mask = Self.groups.reduce(UInt32(0)) { $0 | 1 << ($1.rawValue - 1) }
            socket = try NetlinkSocket(protocol: NETLINK_ROUTE, groups: mask, receiveBuffer: receiveBuffer)
        }

        init(socket: NetlinkSocket) { self.socket = socket }

        /// What was heard.
        enum News {
            case nothing
            case change
            /// The socket does not work.
            case failure
        }

        /// Reads all messages that are there.
        func news(for destinations: [Destination]) -> News {
            var hasChanged = false
            // A flood may go on for as long as this reads. What is left over is read the next time.
            for _ in 0..<10_000 {
                do {
                    let isThere = try socket.receive { datagram in
                        for message in NetlinkMessages(datagram) where !hasChanged {
                            hasChanged = Self.mayMatter(message, for: destinations)
                        }
                    }
                    if !isThere { break }
                } catch {
                    guard error.errorNumber == ENOBUFS else { return .failure }
                    hasChanged = true
                }
            }
            return hasChanged ? .change : .nothing
        }

        /// Whether a message may be about the way to the destinations. A router's tables change all the time.
        static func mayMatter(_ message: NetlinkMessage, for destinations: [Destination]) -> Bool {
            guard Int(message.type) == RTM_NEWROUTE || Int(message.type) == RTM_DELROUTE else { return true }
            guard let route = TableRoute(message.payload) else { return false }
            return route.concerns(destinations)
        }
    }
#endif
