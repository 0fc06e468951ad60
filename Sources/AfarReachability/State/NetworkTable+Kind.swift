extension NetworkTable {
    typealias Kind = NetworkInterface.Kind

    /// What an interface is. Those that only divide or join others count as what lies below them.
    func kind(of link: Link) -> Kind {
        let kind = link.ownKind
        guard link.isTransparent else { return kind }
        return lowerKinds(of: link, isWanted: { !$0.isTransparent }).first ?? kind
    }

    /// What an interface runs over in the end: a radio, a cable or a modem, where one can be found below it.
    func underlyingKind(of link: Link) -> Kind {
        let kind = kind(of: link)
        guard kind == .bridge || kind == .vpn || kind == .virtual else { return kind }
        return lowerKinds(of: link, isWanted: { $0.ownKind.isPhysical && !$0.isTransparent }).first ?? kind
    }

    /// The kinds of those links below one that are wanted, the working ones first. Each link is visited once, so circles,
    /// which the kernel forbids but two messages may show, do no harm.
    private func lowerKinds(of link: Link, isWanted: (Link) -> Bool) -> [Kind] {
        var visited: Set<Int32> = [link.index]
        var waiting = [link]
        var found: [Link] = []
        while let next = waiting.popLast() {
            if next.index != link.index, isWanted(next) {
                found.append(next)
                continue
            }
            let below = links.values.filter { $0.index == next.lower || $0.master == next.index }
            for lower in below where visited.insert(lower.index).inserted { waiting.append(lower) }
        }
        return found.sorted { first, second in
            first.hasCarrier == second.hasCarrier ? first.index < second.index : first.hasCarrier
        }.map(\.ownKind)
    }
}

extension NetworkTable.Link {
    /// What the interface is when nothing is known of others.
    var ownKind: NetworkInterface.Kind {
        if isLoopback || type == HardwareType.loopback { return .loopback }
        if isWireless { return .wifi }
        if isModem { return .cellular }
        if let maker, let kind = Self.kinds[maker] { return kind }
        return switch type {
        case HardwareType.ethernet: maker == nil ? .ethernet : .virtual
        case HardwareType.ieee80211, HardwareType.ieee80211Prism, HardwareType.ieee80211Radiotap: .wifi
        case HardwareType.tunnel, HardwareType.tunnel6, HardwareType.sit, HardwareType.ipGRE, HardwareType.ip6GRE,
            HardwareType.none:
            .vpn
        default: .other
        }
    }

    /// Whether the interface only divides another one, or joins several.
    var isTransparent: Bool {
        guard let maker else { return false }
        return ["vlan", "macvlan", "macvtap", "ipvlan", "ipvtap", "bond", "team", "hsr", "macsec"].contains(maker)
    }

    private var isModem: Bool {
        type == HardwareType.rawIP || type == HardwareType.ppp || maker == "wwan" || maker == "rmnet" || maker == "ppp"
            || name.hasPrefix("wwan") || name.hasPrefix("wwp") || name.hasPrefix("rmnet")
    }

    private static let kinds: [String: NetworkInterface.Kind] = {
        var kinds: [String: NetworkInterface.Kind] = ["bridge": .bridge, "openvswitch": .bridge]
        for maker in [
            "wireguard", "ovpn", "ipip", "ip6tnl", "sit", "gre", "gretap", "ip6gre", "ip6gretap", "erspan", "ip6erspan",
            "vti", "vti6", "xfrm", "vxlan", "geneve", "l2tpeth", "gtp", "amt",
        ] {
            kinds[maker] = .vpn
        }
        for maker in ["veth", "dummy", "ifb", "netkit", "nlmon", "vrf", "vcan"] { kinds[maker] = .virtual }
        return kinds
    }()
}

extension NetworkInterface.Kind {
    var isPhysical: Bool { self == .wifi || self == .ethernet || self == .cellular }
}

/// The numbers that `<linux/if_arp.h>` gives to hardware. That header clashes with Glibc's.
enum HardwareType {
    static let ethernet: UInt16 = 1
    static let ppp: UInt16 = 512
    static let rawIP: UInt16 = 519
    static let tunnel: UInt16 = 768
    static let tunnel6: UInt16 = 769
    static let loopback: UInt16 = 772
    static let sit: UInt16 = 776
    static let ipGRE: UInt16 = 778
    static let ieee80211: UInt16 = 801
    static let ieee80211Prism: UInt16 = 802
    static let ieee80211Radiotap: UInt16 = 803
    static let ip6GRE: UInt16 = 823
    static let none: UInt16 = 0xFFFE
}
