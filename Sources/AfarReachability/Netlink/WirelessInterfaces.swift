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
        let family: WirelessFamily

        /// The indices of wireless interfaces.
        ///
        /// - Throws: What passes by itself, such as a lack of descriptors.
        func indices(among links: [NetworkTable.Link]) throws(ReachabilityError) -> Set<Int32> {
            do throws(ReachabilityError) {
                let socket = try connect(NETLINK_GENERIC)
                if let number = family.number {
                    do throws(ReachabilityError) {
                        return try indices(of: number, from: socket)
                    } catch {
                        if error.isPassing { throw error }
                        // That part of the kernel was unloaded, and perhaps loaded again.
                        family.number = nil
                    }
                }
                let number = try findFamily("nl80211", from: socket)
                family.number = number
                return try indices(of: number, from: socket)
            } catch {
                if error.isPassing { throw error }
                return try indicesByDriver(links)
            }
        }

        private func indices(of family: UInt16, from socket: NetlinkSocket) throws(ReachabilityError) -> Set<Int32> {
            var indices: Set<Int32> = []
            _ = try socket.ask(.wirelessInterfaces(family: family)) { message in
                // Attributes follow a header of 4 bytes.
                for attribute in NetlinkAttributes(message.payload.dropFirst(4))
                where attribute.type == NL80211_ATTR_IFINDEX.rawValue {
                    if let index: Int32 = attribute.value.load(at: 0) { indices.insert(index) }
                }
            }
            return indices
        }

        /// The number that messages of a family have as their type.
        private func findFamily(_ name: String, from socket: NetlinkSocket) throws(ReachabilityError) -> UInt16 {
            var found: UInt16?
            _ = try socket.ask(.families) { message in
                let attributes = NetlinkAttributes(message.payload.dropFirst(4))
                guard attributes.contains(where: { $0.type == CTRL_ATTR_FAMILY_NAME && $0.value.string == name })
                else { return }
                found = attributes.first { $0.type == CTRL_ATTR_FAMILY_ID }?.value.load(at: 0)
            }
            guard let found else { throw ReachabilityError("find the wireless part", ENOENT) }
            return found
        }

        private func indicesByDriver(_ links: [NetworkTable.Link]) throws(ReachabilityError) -> Set<Int32> {
            let descriptor = socket(AF_INET, AFAR_SOCK_DATAGRAM, 0)
            guard descriptor >= 0 else {
                let error = ReachabilityError("open a socket")
                if error.isPassing { throw error }
                return []
            }
            defer { close(descriptor) }
            return Set(links.filter { afar_has_wireless_extensions(descriptor, $0.name) }.map(\.index))
        }
    }
#endif
