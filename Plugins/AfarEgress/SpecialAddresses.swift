/// Addresses that aren't public: everything in IANA's special-purpose registries (RFC 6890), multicast, and unallocated IPv6 addresses.
enum SpecialAddresses {
    /// The networks and their uses. The first match counts.
    static let texts: [(network: String, use: String)] = [
        ("0.0.0.0/8", "an unspecified address (0.0.0.0/8, RFC 791)"),
        ("10.0.0.0/8", "a private address (10.0.0.0/8, RFC 1918)"),
        ("100.64.0.0/10", "a shared address (100.64.0.0/10, RFC 6598)"),
        ("127.0.0.0/8", "a loopback address (127.0.0.0/8, RFC 1122)"),
        ("169.254.0.0/16", "a link-local address (169.254.0.0/16, RFC 3927)"),
        ("172.16.0.0/12", "a private address (172.16.0.0/12, RFC 1918)"),
        ("192.0.0.0/24", "an address for protocols (192.0.0.0/24, RFC 6890)"),
        ("192.0.2.0/24", "an address for documentation (192.0.2.0/24, RFC 5737)"),
        ("192.31.196.0/24", "an AS112 address (192.31.196.0/24, RFC 7535)"),
        ("192.52.193.0/24", "an AMT address (192.52.193.0/24, RFC 7450)"),
        ("192.88.99.0/24", "an address of 6to4 relays (192.88.99.0/24, RFC 7526)"),
        ("192.168.0.0/16", "a private address (192.168.0.0/16, RFC 1918)"),
        ("192.175.48.0/24", "an AS112 address (192.175.48.0/24, RFC 7534)"),
        ("198.18.0.0/15", "an address for benchmarks (198.18.0.0/15, RFC 2544)"),
        ("198.51.100.0/24", "an address for documentation (198.51.100.0/24, RFC 5737)"),
        ("203.0.113.0/24", "an address for documentation (203.0.113.0/24, RFC 5737)"),
        ("224.0.0.0/4", "a multicast address (224.0.0.0/4, RFC 5771)"),
        ("255.255.255.255/32", "the broadcast address (RFC 919)"),
        ("240.0.0.0/4", "a reserved address (240.0.0.0/4, RFC 1112)"),
        ("::/128", "the unspecified address (RFC 4291)"),
        ("::1/128", "the loopback address (RFC 4291)"),
        ("::/96", "an IPv4-compatible address (::/96, RFC 4291)"),
        ("64:ff9b:1::/48", "an address for local translation (64:ff9b:1::/48, RFC 8215)"),
        ("100::/64", "a discard address (100::/64, RFC 6666)"),
        ("100:0:0:1::/64", "a dummy address (100:0:0:1::/64, RFC 9780)"),
        ("2001::/32", "a Teredo address (2001::/32, RFC 4380)"),
        ("2001::/23", "an address for protocols (2001::/23, RFC 2928)"),
        ("2001:db8::/32", "an address for documentation (2001:db8::/32, RFC 3849)"),
        ("2002::/16", "a 6to4 address (2002::/16, RFC 3056)"),
        ("2620:4f:8000::/48", "an AS112 address (2620:4f:8000::/48, RFC 7534)"),
        ("3fff::/20", "an address for documentation (3fff::/20, RFC 9637)"),
        ("5f00::/16", "a segment routing address (5f00::/16, RFC 9602)"),
        ("fc00::/7", "a unique local address (fc00::/7, RFC 4193)"),
        ("fe80::/10", "a link-local address (fe80::/10, RFC 4291)"),
        ("fec0::/10", "a site-local address (fec0::/10, RFC 3879)"),
        ("ff00::/8", "a multicast address (ff00::/8, RFC 4291)"),
    ]

    /// Addresses at which cloud providers serve the metadata and the credentials of a machine. Some of them are in public networks.
    static let metadataTexts = [
        "169.254.169.254", "169.254.170.2", "169.254.170.23", "168.63.129.16", "100.100.100.200", "192.0.0.192",
        "fd00:ec2::254", "fd00:ec2::23", "fd20:ce::254",
    ]

    static let networks = texts.compactMap { text, use in IPNetwork(text).map { (network: $0, use: use) } }
    static let metadata = Set(metadataTexts.compactMap { IPAddress(host: $0) })

    /// Returns why an address isn't public; nil if it is public.
    static func use(of address: IPAddress) -> String? {
        if metadata.contains(address) { return "\(address) is a metadata service of a cloud provider" }
        if let match = networks.first(where: { $0.network.contains(address) }) { return "\(address) is \(match.use)" }
        if address.bytes.count == 16, !IPNetwork.globalUnicast.contains(address), !IPNetwork.nat64.contains(address) {
            return "\(address) is a reserved address (outside 2000::/3, RFC 4291)"
        }
        // NAT64 or ISATAP
        let inner = address.forms.dropFirst().lazy.compactMap { use(of: $0) }.first
        return inner.map { "\(address) contains another address: \($0)" }
    }
}
