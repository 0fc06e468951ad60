import Foundation
import TestServers
import Testing

/// Names whose addresses change between lookups (DNS rebinding), in network namespaces with their own name server.
@Suite(.timeLimit(.minutes(5))) struct RebindingTests {
    private static let script = #"""
        set -e
        ip link set lo up
        ip address add 93.184.216.34/32 dev lo
        ip -6 address add 2606:2800:220:1::1/128 dev lo nodad
        printf 'nameserver 127.0.0.1\noptions timeout:2 attempts:5\n' > "$1/resolv.conf"
        mount --bind "$1/resolv.conf" /etc/resolv.conf
        coproc SERVERS { exec /usr/bin/python3 "$2"; }
        exec {output}<&${SERVERS[0]} {input}>&${SERVERS[1]}-
        read -r -t 60 line <&$output
        [ "$line" = ready ]
        "${@:3}"
        exec {input}>&-
        cat <&$output
        """#

    /// What a probe and the servers have printed.
    private struct Log {
        var outcomes: [String]
        let connections: [String]
        let queries: [String]

        init(_ output: String) {
            let lines = output.split(separator: "\n").map(String.init)
            func values(_ word: String) -> [String] {
                lines.filter { $0.hasPrefix(word + " ") }.map { String($0.dropFirst(word.count + 1)) }
            }
            (outcomes, connections, queries) = (values("outcome"), values("connection"), values("query"))
        }
    }

    /// The arguments that run a command in its own namespaces for the network, processes and mounts.
    private static let alone = ["unshare", "-rnmpf", "--mount-proc", "--kill-child"]

    private static let hasNamespaces: Bool = {
        let file = FileManager.default.temporaryDirectory.appending(path: "namespace-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        return (try? ChildProcess(alone + ["ip", "link"], output: file))?.wait() == true
    }()

    /// Requests URLs of the names on the servers' port.
    private func log(_ transport: TestedTransport, _ policy: String, _ urls: [String]) throws -> Log {
        let folder = FileManager.default.temporaryDirectory.appending(path: "rebinding-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let probe = (Bundle.main.executableURL ?? URL(filePath: CommandLine.arguments[0]))
            .deletingLastPathComponent().appending(path: "EgressProbe").path
        let servers = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "rebinding-servers.py").path
        let command = ["bash", "-c", Self.script, "bash", folder.path, servers, probe, transport.rawValue, policy]
        let child = try ChildProcess(Self.alone + command + urls, output: folder.appending(path: "log"))
        let hasSucceeded = child.wait()
        try #require(hasSucceeded, "\(child.output)")
        return Log(child.output)
    }

    private static let (publicAddress, loopback) = ("93.184.216.34", "127.0.0.1")

    /// The address that was checked is the one that is used: there is one lookup for each request.
    @Test(.enabled(if: hasNamespaces, "network namespaces aren't available"), arguments: TestedTransport.allCases)
    func aChangingNameNeverLeadsToTheLoopbackAddress(over transport: TestedTransport) throws {
        for (name, type, address) in [
            ("changing", "A", Self.publicAddress), ("changing6", "AAAA", "2606:2800:220:1::1"),
        ] {
            let urls = Array(repeating: "http://\(name).test:8080/", count: 6)
            let log = try log(transport, "policy", urls)
            #expect(log.outcomes == (0..<3).flatMap { _ in [address, "refusedByPolicy"] })
            #expect(log.connections == Array(repeating: address, count: 3))
            #expect(log.queries.count { $0 == "\(name).test \(type)" } == 6, "\(log.queries)")
            // Without a policy, the loopback address is reached.
            let unprotected = try self.log(transport, "none", Array(urls.prefix(2)))
            #expect(unprotected.outcomes.first == address && unprotected.outcomes.count == 2)
            #expect(unprotected.connections.count { $0 == "127.0.0.1" || $0 == "::1" } == 1)
        }
    }

    @Test(.enabled(if: hasNamespaces, "network namespaces aren't available"), arguments: TestedTransport.allCases)
    func namesOfSpecialAddressesAreRefused(over transport: TestedTransport) throws {
        let names = ["loopback", "alias", "unspecified", "metadata", "mixed", "mapped"]
        let redirect = "http://\(Self.publicAddress):8080/to?http://loopback.test:8080/"
        let urls = names.map { "http://\($0).test:8080/" } + ["http://localhost:8080/", redirect]
        var log = try log(transport, "policy", urls)
        try #require(log.outcomes.count == urls.count)
        // The system's resolver ignores such addresses in some cases.
        let mapped = log.outcomes.remove(at: 5)
        #expect(["refusedByPolicy", "cannotFindHost"].contains(mapped))
        // The name with several addresses has one public address.
        let refused = Array(repeating: "refusedByPolicy", count: 4)
        #expect(log.outcomes == refused + [Self.publicAddress, "refusedByPolicy", "refusedByPolicy"])
        #expect(log.connections == [Self.publicAddress, Self.publicAddress])
        #expect(log.queries.contains("metadata.test A"))
    }
}
