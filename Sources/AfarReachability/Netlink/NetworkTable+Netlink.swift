#if os(Linux)
    import CNetlink
    #if canImport(Glibc)
        import Glibc
    #elseif canImport(Musl)
        import Musl
    #endif

    // MARK: - Links and addresses

    extension NetworkTable.Link {
        /// Creates a link from `RTM_NEWLINK`.
        init?(_ payload: NetlinkBytes) {
            guard
                let type: UInt16 = payload.load(at: 2), let index: Int32 = payload.load(at: 4),
                let flags: UInt32 = payload.load(at: 8), let attributes = payload.dropFirst(16)
            else { return nil }
            // Skip messages of the AF_BRIDGE family: they describe a bridge's ports, not links.
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
                    driverKind = NetlinkAttributes(attribute.value).first { $0.type == IFLA_INFO_KIND }?.value.string
                default: continue
                }
            }
            // A veth reports its other end as its lower link.
            if isLowerElsewhere || driverKind == "veth" || lower == index || lower == 0 { lower = nil }
            guard !name.isEmpty else { return nil }
        }
    }

    extension NetworkTable.LinkAddress {
        /// Creates an address from `RTM_NEWADDR`.
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
            // On a point-to-point link, IFA_ADDRESS is the peer's address.
            guard let address = local ?? other else { return nil }
            let isTentative = flags & UInt32(IFA_F_TENTATIVE) != 0 && flags & UInt32(IFA_F_OPTIMISTIC) == 0
            self.init(
                link: index, address: address, prefixLength: Int(prefixLength),
                isGlobal: scope == RT_SCOPE_UNIVERSE.rawValue || scope == RT_SCOPE_SITE.rawValue,
                isUsable: !isTentative && flags & UInt32(IFA_F_DADFAILED) == 0
            )
        }
    }

    // MARK: - Routes

    extension TableRoute {
        /// Creates a route from `RTM_NEWROUTE`.
        init?(_ payload: NetlinkBytes) {
            guard
                let family = IPAddress.Family(kernel: payload.load(at: 0)),
                let prefixLength: UInt8 = payload.load(at: 1), Int(prefixLength) <= family.bitCount,
                let shortTable: UInt8 = payload.load(at: 4), let type: UInt8 = payload.load(at: 7),
                let flags: UInt32 = payload.load(at: 8), let attributes = payload.dropFirst(12)
            else { return nil }
            self.init(
                destination: .unspecified(family), prefixLength: Int(prefixLength), kind: .init(kernel: type),
                table: UInt32(shortTable)
            )
            var hop = Hop(link: 0, flags: flags)
            var severalHops: [Hop]?
            for attribute in NetlinkAttributes(attributes) {
                let value = attribute.value
                switch rtattr_type_t(UInt32(attribute.type)) {
                case RTA_DST: destination = value.address(family) ?? destination
                case RTA_TABLE: table = value.load(at: 0) ?? table
                case RTA_PRIORITY: metric = value.load(at: 0) ?? metric
                case RTA_PREFSRC: source = value.address(family)
                case RTA_OIF: hop.link = value.load(at: 0) ?? 0
                case RTA_MULTIPATH: severalHops = Hop.several(value, family: family)
                case RTA_NH_ID: hasHiddenHops = true
                default: hop.read(attribute, family: family)
                }
            }
            hops = severalHops ?? (hop.link == 0 ? [] : [hop])
            hasHiddenHops = hasHiddenHops && hops.isEmpty && refusal == nil
        }

        /// Returns whether a route applies to ordinary packets. Routes for a specific type of service don't, and
        /// neither do cached copies of routes.
        static func isOrdinary(_ payload: NetlinkBytes) -> Bool {
            let isForService = payload.load(at: 0, as: UInt8.self) == UInt8(AF_INET) && payload.load(at: 3) != UInt8(0)
            let flags: UInt32 = payload.load(at: 8) ?? 0
            return !isForService && flags & UInt32(RTM_F_CLONED) == 0
        }
    }

    extension TableRoute.Hop {
        fileprivate init(link: Int32, flags: UInt32) {
            self.link = link
            isDead = flags & UInt32(RTNH_F_DEAD) != 0
            isLinkDown = flags & UInt32(RTNH_F_LINKDOWN) != 0
        }

        fileprivate mutating func read(_ attribute: NetlinkAttribute, family: IPAddress.Family) {
            switch rtattr_type_t(UInt32(attribute.type)) {
            case RTA_GATEWAY:
                gateway = attribute.value.address(family)
            case RTA_VIA:
                // A gateway of the other address family: the family's number, followed by the address.
                gateway = IPAddress.Family(kernel: attribute.value.load(at: 0)).flatMap {
                    attribute.value.dropFirst(2)?.address($0)
                }
            default:
                break
            }
        }

        fileprivate static func several(_ bytes: NetlinkBytes, family: IPAddress.Family) -> [TableRoute.Hop] {
            var hops: [TableRoute.Hop] = []
            var rest = bytes
            while let length: UInt16 = rest.load(at: 0), let flags: UInt8 = rest.load(at: 2),
                let link: Int32 = rest.load(at: 4), length >= 8, let one = rest.slice(0, count: Int(length))
            {
                var hop = TableRoute.Hop(link: link, flags: UInt32(flags))
                for attribute in NetlinkAttributes(one.dropFirst(8)) { hop.read(attribute, family: family) }
                hops.append(hop)
                guard let next = rest.dropFirst(min(aligned(Int(length)), rest.count)) else { break }
                rest = next
            }
            return hops
        }
    }

    extension NetworkRoute.Kind {
        fileprivate init(kernel type: UInt8) {
            switch Int(type) {
            case RTN_UNICAST: self = .unicast
            case RTN_LOCAL: self = .local
            case RTN_BROADCAST: self = .broadcast
            case RTN_ANYCAST: self = .anycast
            case RTN_MULTICAST: self = .multicast
            case RTN_BLACKHOLE: self = .blackhole
            case RTN_UNREACHABLE: self = .unreachable
            case RTN_PROHIBIT: self = .prohibit
            case RTN_THROW: self = .throw
            default: self = .other
            }
        }
    }

    // MARK: - Rules

    extension RoutingRule {
        /// Creates a rule from `RTM_NEWRULE`.
        init?(_ payload: NetlinkBytes) {
            guard
                let family = IPAddress.Family(kernel: payload.load(at: 0)),
                let destinationLength: UInt8 = payload.load(at: 1), Int(destinationLength) <= family.bitCount,
                let sourceLength: UInt8 = payload.load(at: 2), let service: UInt8 = payload.load(at: 3),
                let shortTable: UInt8 = payload.load(at: 4), let action: UInt8 = payload.load(at: 7),
                let flags: UInt32 = payload.load(at: 8), let attributes = payload.dropFirst(12)
            else { return nil }
            self.init(family: family, priority: 0, action: .nothing)
            isInverted = flags & UInt32(FIB_RULE_INVERT) != 0
            // Rules for source addresses never apply, because the kernel chooses a connection's source address after the
            // first lookup.
            requiresUncommonPackets = sourceLength != 0 || service != 0
            if destinationLength != 0 {
                destination = Prefix(address: .unspecified(family), length: Int(destinationLength))
            }
            var table = UInt32(shortTable)
            var next: UInt32?
            for attribute in NetlinkAttributes(attributes) {
                switch attribute.type {
                case FRA_TABLE: table = attribute.value.load(at: 0) ?? table
                case FRA_GOTO: next = attribute.value.load(at: 0)
                default: read(attribute)
                }
            }
            // If a rule was created without a mask, its mark must match completely. The kernel's message then includes a
            // mask of all ones.
            switch Int(action) {
            case FR_ACT_TO_TBL: self.action = .lookUp(table: table)
            case FR_ACT_GOTO: self.action = next.map { .goTo(priority: $0) } ?? .nothing
            case FR_ACT_BLACKHOLE: self.action = .refuse(.blackhole)
            case FR_ACT_UNREACHABLE: self.action = .refuse(.unreachable)
            case FR_ACT_PROHIBIT: self.action = .refuse(.prohibited)
            default: self.action = .nothing
            }
        }

        private mutating func read(_ attribute: NetlinkAttribute) {
            let value = attribute.value
            let number: UInt32? = value.load(at: 0)
            switch attribute.type {
            case FRA_DST:
                if let address = value.address(family) { destination?.address = address }
            case FRA_PRIORITY: priority = number ?? priority
            case FRA_IIFNAME: inputInterface = value.string
            case FRA_OIFNAME: outputInterface = value.string
            case FRA_FWMARK: mark = number ?? mark
            case FRA_FWMASK: markMask = number ?? markMask
            case FRA_TUN_ID: requiresUncommonPackets = requiresUncommonPackets || value.load(at: 0) != UInt64(0)
            case FRA_L3MDEV: requiresUncommonPackets = requiresUncommonPackets || value.load(at: 0) != UInt8(0)
            case FRA_UID_RANGE:
                if let first = number, let last: UInt32 = value.load(at: 4), first <= last { users = first...last }
            case FRA_SUPPRESS_PREFIXLEN:
                suppressedPrefixLength = number.flatMap { $0 > 128 ? nil : Int($0) }
            case FRA_SUPPRESS_IFGROUP:
                isUnsupported = isUnsupported || number != .max
            case FRA_IP_PROTO:
                isUnsupported = isUnsupported || value.load(at: 0) != UInt8(0)
            case FRA_SPORT_RANGE, FRA_DPORT_RANGE:
                isUnsupported = isUnsupported || number != 0
            case FRA_SRC, FRA_FLOW, FRA_PROTOCOL, FRA_PAD:
                break
            default:
                isUnsupported = true
            }
        }
    }

    // MARK: - Address families

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
