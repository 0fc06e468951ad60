#if os(Linux)
    import CNetlink
    #if canImport(Glibc)
        import Glibc
    #elseif canImport(Musl)
        import Musl
    #endif

    extension TableRoute {
        /// Reads RTM_NEWROUTE.
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

        /// Whether a route applies to ordinary packets: not one for a type of service, and not a cached copy.
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
                // A gateway of the other family: its number, then the address.
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
#endif
