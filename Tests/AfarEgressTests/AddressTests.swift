import AfarTransport
import Foundation
import TestServers
import Testing

@testable import AfarEgress

/// The addresses that the default policy allows and refuses.
@Suite struct AddressTests {
    /// Returns the policy's reason against a connection to an address; nil if it allows the connection.
    private func refusal(_ text: String, _ policy: EgressPolicy = EgressPolicy()) throws -> String? {
        let address = try #require(SocketAddress(text, port: 80), "\(text)")
        let candidate = ConnectionCandidate(scheme: "http", host: "a.example", port: 80, address: address)
        guard case .refuse(let reason) = policy.decide(on: candidate) else { return nil }
        return reason
    }

    /// The first and the last address of each special network, and a part of the reason.
    private static let refused: [(addresses: [String], reason: String)] = [
        (["0.0.0.0", "0.255.255.255", "0"], "unspecified"),
        (["10.0.0.0", "10.255.255.255", "167772161", "0xa.1", "012.0.0.1"], "private"),
        (["100.64.0.0", "100.127.255.255"], "shared"),
        (["127.0.0.0", "127.0.0.1", "127.255.255.255", "2130706433", "0x7f000001", "0177.1", "127.1"], "loopback"),
        (["169.254.0.0", "169.254.255.255"], "link-local"),
        (["172.16.0.0", "172.31.255.255"], "private"),
        (["192.0.0.0", "192.0.0.9", "192.0.0.255"], "protocols"),
        (
            ["192.0.2.0", "192.0.2.255", "198.51.100.0", "198.51.100.255", "203.0.113.0", "203.0.113.255"],
            "documentation"
        ),
        (["192.31.196.0", "192.31.196.255", "192.175.48.0", "192.175.48.255"], "AS112"),
        (["192.52.193.0", "192.52.193.255"], "AMT"),
        (["192.88.99.0", "192.88.99.255"], "6to4"),
        (["192.168.0.0", "192.168.255.255"], "private"),
        (["198.18.0.0", "198.19.255.255"], "benchmarks"),
        (["224.0.0.0", "239.255.255.255"], "multicast"),
        (["240.0.0.0", "255.255.255.254"], "reserved"),
        (["255.255.255.255"], "broadcast"),
        (["169.254.169.254", "169.254.170.2", "168.63.129.16", "100.100.100.200", "192.0.0.192"], "metadata"),
        (["fd00:ec2::254", "fd20:ce::254"], "metadata"),
        (["::"], "unspecified"),
        (["::1", "0:0:0:0:0:0:0:1"], "loopback"),
        (["::2", "::7f00:1", "::127.0.0.1", "::8.8.8.8", "::ffff:ffff"], "IPv4-compatible"),
        (["::ffff:127.0.0.1", "::ffff:7f00:1"], "127.0.0.1 is a loopback"),
        (["::ffff:10.1.2.3"], "10.1.2.3 is a private"),
        (["::ffff:169.254.169.254"], "169.254.169.254 is a metadata"),
        (["::ffff:0:127.0.0.1", "::1:0:0:0", "1::1"], "reserved"),
        (["64:ff9b::10.0.0.1"], "contains another address: 10.0.0.1 is a private"),
        (["64:ff9b::a9fe:a9fe"], "contains another address: 169.254.169.254 is a metadata"),
        (["64:ff9b::0.0.0.0", "64:ff9b::255.255.255.255"], "contains another address"),
        (["64:ff9b:0:1::8.8.8.8"], "reserved"),
        (["64:ff9b:1::", "64:ff9b:1::8.8.8.8", "64:ff9b:1:ffff:ffff:ffff:ffff:ffff"], "local translation"),
        (["100::", "100::ffff:ffff:ffff:ffff"], "discard"),
        (["100:0:0:1::", "100:0:0:1:ffff:ffff:ffff:ffff"], "dummy"),
        (["2001::", "2001:0:7f00:1::", "2001:0:ffff:ffff:ffff:ffff:ffff:ffff"], "Teredo"),
        (["2001:1::1", "2001:2::", "2001:10::", "2001:20::", "2001:1ff:ffff::"], "protocols"),
        (["2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff"], "documentation"),
        (["2002::", "2002:7f00:1::", "2002:808:808::", "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff"], "6to4"),
        (["2620:4f:8000::1"], "AS112"),
        (["3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff"], "documentation"),
        (["2606:4700::5efe:10.0.0.1", "2606:4700::200:5efe:127.0.0.1"], "contains another address"),
        (["4000::", "5f00::", "8000::1", "e000::", "fe00::1"], "address"),
        (["fc00::", "fd12:3456::1", "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"], "unique local"),
        (["fe80::", "fe80::1", "febf:ffff::", "fe80::1%lo"], "link-local"),
        (["fec0::", "feff::"], "site-local"),
        (["ff00::", "ff02::1", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"], "multicast"),
    ]

    @Test(arguments: refused) func specialAddressesAreRefused(addresses: [String], reason: String) throws {
        for text in addresses {
            let found = try #require(try refusal(text), "\(text) is allowed")
            #expect(found.contains(reason), "\(text): \(found)")
        }
    }

    /// Addresses next to special networks, and others.
    @Test(arguments: [
        "1.0.0.0", "8.8.8.8", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255",
        "128.0.0.0", "134744072", "168.63.129.15", "168.63.129.17", "169.253.255.255", "169.255.0.0", "172.15.255.255",
        "172.32.0.0", "191.255.255.255", "192.0.1.0", "192.0.3.0", "192.88.98.255", "192.88.100.0", "192.167.255.255",
        "192.169.0.0", "198.17.255.255", "198.20.0.0", "198.51.99.255", "198.51.101.0", "203.0.112.255", "203.0.114.0",
        "223.255.255.255", "2000::1", "2001:200::1", "2001:4860:4860::8888", "2001:db7:ffff::", "2001:db9::",
        "2003::1", "2606:4700::1111", "2620:4f:7fff::1", "2620:4f:8001::1", "2a00:1450:4001::5efe", "3ffe:ffff::",
        "3fff:1000::", "64:ff9b::8.8.8.8", "64:ff9b::808:808", "::ffff:8.8.8.8", "2606:4700::5efe:8.8.8.8",
        "2606:4700::5eff:10.0.0.1", "2606:4700::100:5efe:10.0.0.1",
    ])
    func publicAddressesAreAllowed(text: String) throws { #expect(try refusal(text) == nil) }

    @Test func everyEntryOfTheTablesIsAnAddress() {
        #expect(SpecialAddresses.networks.count == SpecialAddresses.texts.count)
        #expect(SpecialAddresses.metadata.count == SpecialAddresses.metadataTexts.count)
    }

    /// Python's module `ipaddress` contains IANA's registries, too.
    @Test func noAddressIsAllowedThatPythonCallsPrivate() throws {
        let program = """
            import ipaddress, random
            random.seed(7)
            networks = [ipaddress.ip_network(text, strict=False) for text in (
                "0.0.0.0/0 10.0.0.0/7 100.0.0.0/8 126.0.0.0/7 169.254.0.0/15 172.0.0.0/8 192.0.0.0/8 198.0.0.0/8 203.0.0.0/16 "
                "224.0.0.0/3 ::/0 2001::/16 2000::/3 64:ff9b::/32 fc00::/6 fe80::/9 ::ffff:0:0/90 100::/32 2002::/15").split()]
            for _ in range(20000):
                network = random.choice(networks)
                address = network[random.getrandbits(128) % network.num_addresses]
                print(address, int(address.is_global and not address.is_multicast))
            """
        let file = FileManager.default.temporaryDirectory.appending(path: "addresses-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        let python = try ChildProcess(["/usr/bin/python3", "-c", program], output: file)
        try #require(python.wait())
        var counts = (allowed: 0, refused: 0)
        for line in python.output.split(separator: "\n") {
            let parts = line.split(separator: " ").map(String.init)
            if try refusal(parts[0]) == nil {
                counts.allowed += 1
                // Python before 3.13 doesn't look inside IPv4-mapped addresses.
                let isMapped = parts[0].hasPrefix("::ffff:")
                #expect(parts[1] == "1" || isMapped, "\(parts[0]) is allowed")
            } else {
                counts.refused += 1
            }
        }
        #expect(counts.allowed > 1_000 && counts.refused > 1_000)
    }
}
