#if os(Linux)
    import CNetlink
    #if canImport(Glibc)
        import Glibc
    #elseif canImport(Musl)
        import Musl
    #endif

    extension NetworkTable.Link {
        /// Reads RTM_NEWLINK.
        init?(_ payload: NetlinkBytes) {
            guard
                let type: UInt16 = payload.load(at: 2), let index: Int32 = payload.load(at: 4),
                let flags: UInt32 = payload.load(at: 8), let attributes = payload.dropFirst(16)
            else { return nil }
            // What a bridge says of its ports comes as messages of a family of its own; those are no links.
            guard payload.load(at: 0, as: UInt8.self) == UInt8(AF_UNSPEC) else { return nil }
            self.init(index: index)
            self.type = type
            isUp = flags & 0x1 != 0
            isLoopback = flags & 0x8 != 0
            // IFF_POINTOPOINT, IFF_NOARP.
            isPointToPoint = flags & 0x90 != 0
            // IFF_RUNNING, IFF_LOWER_UP.
            hasCarrier = flags & 0x1_0040 == 0x1_0040
            var isLowerElsewhere = false
            for attribute in NetlinkAttributes(attributes) {
                switch attribute.type {
                case IFLA_IFNAME: name = attribute.value.string
                case IFLA_LINK: lower = attribute.value.load(at: 0)
                case IFLA_LINK_NETNSID: isLowerElsewhere = true
                case IFLA_MASTER: master = attribute.value.load(at: 0)
                case IFLA_LINKINFO:
                    maker = NetlinkAttributes(attribute.value).first { $0.type == IFLA_INFO_KIND }?.value.string
                default: continue
                }
            }
            // A veth names its other end as the link below.
            if isLowerElsewhere || maker == "veth" || lower == index || lower == 0 { lower = nil }
            guard !name.isEmpty else { return nil }
        }
    }

    extension NetworkTable.LinkAddress {
        /// Reads RTM_NEWADDR.
        init?(_ payload: NetlinkBytes) {
            guard
                let family = IPAddress.Family(kernel: payload.load(at: 0)),
                let prefixLength: UInt8 = payload.load(at: 1), Int(prefixLength) <= family.bitCount,
                let shortFlags: UInt8 = payload.load(at: 2), let scope: UInt8 = payload.load(at: 3),
                let index: Int32 = payload.load(at: 4), let attributes = payload.dropFirst(8)
            else { return nil }
            var flags = UInt32(shortFlags)
            var local: IPAddress?
            var other: IPAddress?
            for attribute in NetlinkAttributes(attributes) {
                switch attribute.type {
                case IFA_LOCAL: local = attribute.value.address(family)
                case IFA_ADDRESS: other = attribute.value.address(family)
                case IFA_FLAGS: flags = attribute.value.load(at: 0) ?? flags
                default: continue
                }
            }
            // Between two points, the address is that of the other one.
            guard let address = local ?? other else { return nil }
            let isTentative = flags & UInt32(IFA_F_TENTATIVE) != 0 && flags & UInt32(IFA_F_OPTIMISTIC) == 0
            self.init(
                link: index, address: address, prefixLength: Int(prefixLength),
                isGlobal: scope == RT_SCOPE_UNIVERSE.rawValue || scope == RT_SCOPE_SITE.rawValue,
                isUsable: !isTentative && flags & UInt32(IFA_F_DADFAILED) == 0
            )
        }
    }

    extension IPAddress.Family {
        init?(kernel number: UInt8?) {
            switch number {
            case UInt8(AF_INET): self = .ipv4
            case UInt8(AF_INET6): self = .ipv6
            default: return nil
            }
        }

        var kernelNumber: UInt8 {
            switch self {
            case .ipv4: UInt8(AF_INET)
            case .ipv6: UInt8(AF_INET6)
            }
        }
    }
#endif
