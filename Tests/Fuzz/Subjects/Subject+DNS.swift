import AfarDNSOverHTTPS
import AfarTransport
import Foundation

extension Subject {
    static let dns = [
        Subject("dns", seeds: dnsSeeds, tokens: dnsTokens) { (input, _) throws(Contradiction) in
            var isAccepted = false
            for type in DNSRecordType.allCases {
                guard let query = try? DNSQuery(host: "a.example", type: type) else { continue }
                let answer: DNSAnswer
                do throws(DNSError) {
                    answer = try DNSAnswer([UInt8](input), to: query)
                } catch {
                    _ = error.description
                    continue
                }
                isAccepted = true
                try Contradiction.check(answer.addresses.count <= 100, true, "the number of addresses is limited")
                let isRight = answer.addresses.allSatisfy { $0.bytes?.count == (type == .a ? 4 : 16) }
                try Contradiction.check(isRight, true, "the addresses have the requested type")
            }
            return isAccepted
        }
    ]

    private static let dnsName: [UInt8] = [1, 0x61, 7, 0x65, 0x78, 0x61, 0x6D, 0x70, 0x6C, 0x65, 0]

    private static let dnsSeeds: [Data] = [
        // An alias of an alias, and an IPv4 address.
        Data(
            [0, 0, 0x81, 0x80, 0, 1, 0, 3, 0, 0, 0, 0] + dnsName + [0, 1, 0, 1]
                + [0xC0, 12, 0, 5, 0, 1, 0, 0, 1, 0, 0, 4, 1, 0x62, 0xC0, 14]
                + [1, 0x62, 0xC0, 14, 0, 5, 0, 1, 0, 0, 1, 0, 0, 2, 0xC0, 16]
                + [0xC0, 16, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 192, 0, 2, 1]),
        // An IPv6 address.
        Data(
            [0, 0, 0x81, 0x80, 0, 1, 0, 1, 0, 0, 0, 0] + dnsName + [0, 28, 0, 1]
                + [0xC0, 12, 0, 28, 0, 1, 0, 0, 0, 60, 0, 16] + [UInt8](repeating: 0, count: 15) + [1]),
        // The host doesn't exist.
        Data([0, 0, 0x81, 0x83, 0, 1, 0, 0, 0, 0, 0, 0] + dnsName + [0, 1, 0, 1]),
    ]

    private static let dnsTokens = ["\u{0}", "\u{1}a", "\u{0}\u{5}\u{0}\u{1}", "\u{0}\u{1}\u{0}\u{1}", "\u{7}example"]
}
