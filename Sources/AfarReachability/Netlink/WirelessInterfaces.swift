#if os(Linux)
    import CNetlink
    #if canImport(Glibc)
        import Glibc
    #elseif canImport(Musl)
        import Musl
    #endif

    /// Tells which interfaces are wireless: the kernel's wireless part knows, and where it does not answer, the drivers do.
    struct WirelessInterfaces {
        let connect: (Int32) throws(ReachabilityError) -> NetlinkSocket

        /// The indices of wireless interfaces.
        func indices(among links: [NetworkTable.Link]) -> Set<Int32> {
            do {
                let socket = try connect(NETLINK_GENERIC)
                let family = try family(from: socket)
                var indices: Set<Int32> = []
                _ = try socket.ask(.wirelessInterfaces(family: family)) { message in
                    // Attributes follow a header of 4 bytes.
                    for attribute in NetlinkAttributes(message.payload.dropFirst(4))
                    where attribute.type == NL80211_ATTR_IFINDEX.rawValue {
                        if let index: Int32 = attribute.value.load(at: 0) { indices.insert(index) }
                    }
                }
                return indices
            } catch {
                return indicesByDriver(links)
            }
        }

        /// The number that messages of the wireless part have as their type.
        private func family(from socket: NetlinkSocket) throws(ReachabilityError) -> UInt16 {
            var found: UInt16?
            _ = try socket.ask(.family("nl80211"), isDump: false) { message in
                found = NetlinkAttributes(message.payload.dropFirst(4))
                    .first { $0.type == CTRL_ATTR_FAMILY_ID }?.value.load(at: 0)
            }
            guard let found else { throw ReachabilityError("find the wireless part", ENOENT) }
            return found
        }

        private func indicesByDriver(_ links: [NetworkTable.Link]) -> Set<Int32> {
            let descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
            guard descriptor >= 0 else { return [] }
            defer { close(descriptor) }
            return Set(links.filter { afar_has_wireless_extensions(descriptor, $0.name) }.map(\.index))
        }
    }
#endif
