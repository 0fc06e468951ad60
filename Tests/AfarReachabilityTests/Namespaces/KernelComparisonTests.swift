import Testing

@testable import AfarReachability
@testable import ReachabilityProbe

/// The path computed from the tables is the one that the kernel uses.
@Suite(.enabled(if: Namespace.unavailabilityReason == nil, "network namespaces aren't available"))
struct KernelComparisonTests {
    @Test(arguments: ["-4", "-6"], [1, 2, 29] as [UInt64])
    func routesMatchTheKernels(family: String, seed: UInt64) async throws {
        var generator = SplitMix(state: seed)
        let namespace = try Namespace()
        for (number, name) in ["v0", "v1", "v2"].enumerated() {
            try await namespace.addLink(name)
            let address = family == "-4" ? "192.0.\(number).2/24" : "2001:db8:\(number)::2/64 nodad"
            try await namespace.run("ip address add \(address) dev \(name)")
        }
        let routes = (0..<60).map { _ in Self.route(family, using: &generator) }
        let rules = (0..<8).map { _ in Self.rule(family, using: &generator) }
        // Duplicates are rejected.
        let lines = (routes + rules).map { "'\($0)'" }.joined(separator: " ")
        try await namespace.run("printf '%s\\n' \(lines) | ip \(family) -force -batch - 2> /dev/null || true")
        try await namespace.startProbe()

        var ways: Set<String> = []
        for _ in 0..<60 {
            let destination = Self.network(family, using: &generator)
            let answer = try await namespace.run("ip \(family) route get \(destination) 2>&1 || true").joined()
            try await namespace.send("path \(destination)")
            let report = try await namespace.report()
            let way = Self.way(of: answer)
            #expect(report.interfaces.first ?? report.status == way, "\(destination): \(answer)")
            ways.insert(way)
        }
        #expect(ways.count > 2)
    }

    private static func route(_ family: String, using generator: inout SplitMix) -> String {
        let kind =
            ["", "", "", "", "blackhole", "unreachable", "prohibit", "throw"].randomElement(using: &generator) ?? ""
        let link = kind.isEmpty ? "dev v\(Int.random(in: 0...2, using: &generator))" : ""
        let lengths = family == "-4" ? [0, 1, 4, 8, 12, 16, 20, 24] : [0, 16, 20, 24, 28, 32]
        let length = lengths.randomElement(using: &generator) ?? 0
        let table = [254, 254, 100, 101].randomElement(using: &generator) ?? 254
        let metric = Int.random(in: 1...50, using: &generator)
        let network = network(family, using: &generator)
        return "route add \(kind) \(masked(network, to: length)) \(link) metric \(metric) table \(table)"
    }

    private static func rule(_ family: String, using generator: inout SplitMix) -> String {
        let length = (family == "-4" ? [4, 8] : [16, 20]).randomElement(using: &generator) ?? 8
        let selectors = [
            "to \(masked(network(family, using: &generator), to: length))",
            "not to \(masked(network(family, using: &generator), to: length))",
            "from all", "fwmark 7", "not fwmark 7", "iif v0", "uidrange 0-5", "uidrange 7-9", "from all tos 0x10",
        ]
        let actions = [
            "lookup 100", "lookup 101", "lookup 254 suppress_prefixlength 4", "prohibit", "goto 30000", "goto 32766",
        ]
        let selector = selectors.randomElement(using: &generator) ?? ""
        var action = actions.randomElement(using: &generator) ?? ""
        // A rule that rejects all packets would hide all rules after it.
        if action == "prohibit", !selector.hasPrefix("to") { action = "lookup 100" }
        return "rule add \(selector) priority \(Int.random(in: 100...200, using: &generator)) \(action)"
    }

    /// Returns an address in a small part of the address space, so that routes overlap.
    private static func network(_ family: String, using generator: inout SplitMix) -> String {
        let numbers = (0..<3).map { _ in Int.random(in: 0...3, using: &generator) }
        return family == "-4"
            ? "\(8 + numbers[0]).\(numbers[1] * 16).\(numbers[2] * 16).9"
            : "2a0\(numbers[0]):\(numbers[1])\(numbers[2])00::9"
    }

    private static func masked(_ network: String, to length: Int) -> String {
        guard let address = IPAddress(network) else { return network }
        let bits = (address.bits >> (128 - length)) << (128 - length)
        return "\(IPAddress(family: address.family, bits: bits))/\(length)"
    }

    /// Converts the kernel's answer to the format of the probe.
    private static func way(of answer: String) -> String {
        let words = answer.split(separator: " ")
        if let place = words.firstIndex(of: "dev"), !answer.hasPrefix("RTNETLINK"), place + 1 < words.count {
            let name = String(words[place + 1])
            if !["blackhole", "unreachable", "prohibit"].contains(words[0]) { return name }
        }
        let refused = "unsatisfied: a route blocks packets: "
        return switch true {
        case answer.contains("Invalid argument"): refused + "dropped silently (blackhole)"
        case answer.contains("Permission denied"): refused + "prohibited"
        case answer.contains("No route to host"): refused + "destination unreachable"
        default: "unsatisfied: no route to the target"
        }
    }
}
