import AfarCore
import Foundation
import Testing

/// A session that loses its network, tested in network namespaces.
struct LostNetworkTests {
    /// Creates uplinks to a server at 198.51.100.1. The first one is removed between two requests.
    private static let script = #"""
        set -e
        coproc SERVER { exec unshare -n perl -MIO::Socket::INET -e '
            $listener = IO::Socket::INET->new(LocalPort => 8080, Listen => 9) or die;
            $| = 1; print "ready\n";
            while ($client = $listener->accept) {
                next if fork;
                while (<$client>) { print $client "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok" if $_ eq "\r\n" }
                exit
            }'; }
        read -r -t 60 _ <&${SERVER[0]}
        far() { nsenter -t $SERVER_PID -n ip "$@"; }
        far address add 198.51.100.1/32 dev lo
        far link set lo up
        for n in $1; do
            ip link add up$n type veth peer name far$n netns $SERVER_PID
            ip address add 10.0.$n.2/24 dev up$n
            ip link set up$n up
            far address add 10.0.$n.1/24 dev far$n
            far link set far$n up
            ip route add default via 10.0.$n.1 metric $n
        done
        exec 3< <(exec "$0" http://198.51.100.1:8080/)
        read -r -t 60 first <&3
        ip link delete up1
        read -r -t 60 second <&3
        echo "$first, $second"
        """#

    /// Runs a command in its own network and process namespaces, which are removed when it exits.
    ///
    /// Foundation's `Process` isn't used, because it reads past the end of its list of descriptors if many are open, as
    /// in this process.
    private static func runAlone(_ arguments: [String]) throws -> (status: Int32, output: String) {
        let words = ["unshare", "-rnpf", "--mount-proc", "--kill-child"] + arguments
        guard let output = popen("exec " + words.map(ShellWord.quoted).joined(separator: " "), "re") else {
            throw POSIXError(.EAGAIN)
        }
        var data = Data()
        while case let byte = getc(output), byte != EOF { data.append(UInt8(truncatingIfNeeded: byte)) }
        return (pclose(output), String(decoding: data, as: UTF8.self))
    }

    private static let hasNamespaces = (try? runAlone(["ip", "link"]))?.status == 0

    /// The path of the program that makes the requests, next to the test bundle.
    private var probe: String {
        (Bundle.main.executableURL ?? URL(filePath: CommandLine.arguments[0]))
            .deletingLastPathComponent().appending(path: "SessionProbe").path
    }

    /// Returns the outcomes of the two requests, whether their connections were new, and the durations in milliseconds.
    private func results(uplinks: String) throws -> [[Substring]] {
        let outcome = try Self.runAlone(["bash", "-c", Self.script, probe, uplinks])
        #expect(outcome.status == 0)
        return outcome.output.split(separator: ",").map { $0.split(whereSeparator: \.isWhitespace) }
    }

    @Test(
        .enabled(if: hasNamespaces, "network namespaces aren't available"),
        arguments: [
            ("1 2", "200"),
            // There is no other uplink: URLError.notConnectedToInternet.
            ("1", "-1009"),
        ])
    func theNextRequestReconnectsOrFailsImmediately(uplinks: String, second: String) throws {
        let results = try results(uplinks: uplinks)
        #expect(results.map { $0.prefix(2) } == [["200", "new"], [second[...], "new"]])
        // On the lost connection, the request would last until its idle timeout.
        let milliseconds = try #require(results.last?.last.flatMap { Int($0) })
        #expect(milliseconds < 10_000)
    }
}
