#if os(Linux)
    import CNetlink
    #if canImport(Glibc)
        import Glibc
    #elseif canImport(Musl)
        import Musl
    #endif

    extension RoutingRule {
        /// Reads RTM_NEWRULE.
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
            // Which address a connection comes from is chosen after the first search.
            wantsUncommonPackets = sourceLength != 0 || service != 0
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
            // A mark without a mask is compared whole; the kernel always tells the mask then.
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
            case FRA_TUN_ID: wantsUncommonPackets = wantsUncommonPackets || value.load(at: 0) != UInt64(0)
            case FRA_L3MDEV: wantsUncommonPackets = wantsUncommonPackets || value.load(at: 0) != UInt8(0)
            case FRA_UID_RANGE:
                if let first = number, let last: UInt32 = value.load(at: 4), first <= last { users = first...last }
            case FRA_SUPPRESS_PREFIXLEN:
                suppressedPrefixLength = number.flatMap { $0 > 128 ? nil : Int($0) }
            case FRA_SUPPRESS_IFGROUP:
                isBeyondJudgement = isBeyondJudgement || number != .max
            case FRA_IP_PROTO:
                isBeyondJudgement = isBeyondJudgement || value.load(at: 0) != UInt8(0)
            case FRA_SPORT_RANGE, FRA_DPORT_RANGE:
                isBeyondJudgement = isBeyondJudgement || number != 0
            case FRA_SRC, FRA_FLOW, FRA_PROTOCOL, FRA_PAD:
                break
            default:
                isBeyondJudgement = true
            }
        }
    }
#endif
