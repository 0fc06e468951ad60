import Foundation
import Servers

/// A program that makes the measured requests.
struct Client: Sendable {
    let name: String
    let executable: URL
    /// The divisor that reduces the number of requests for slow clients.
    var slowness = 1
    var decodes = true
    /// Whether callgrind can count the client's instructions. Valgrind fails with Go's runtime and with
    /// AsyncHTTPClient's symbols.
    var runsUnderValgrind = true
    /// The transport to select, for clients that support several.
    var transport: String?
    /// The shell command that prints the client's version, unless another client has the same version.
    var versionCommand: String?

    static let yardstick = "libcurl"
    /// The yardstick for Afar's transport without a session.
    static let loadGenerator = "h2load"
    static let names = [yardstick, loadGenerator, "Afar", "URLSession", "Go", "AsyncHTTPClient"]
    /// Afar over libcurl. This client runs only if it is named explicitly.
    static let overLibcurl = "AfarCurl"

    /// Returns the requested clients that are available on this machine, in the order of `names`.
    ///
    /// - Parameters:
    ///   - folder: The folder for clients that must be built first.
    ///   - wanted: The clients to return. If `nil`, all clients in `names` are returned.
    static func available(folder: URL, named wanted: [String]?) throws -> [Client] {
        let wanted = wanted ?? names
        var clients = [
            Client(name: yardstick, executable: built("RawCurl"), decodes: false),
            Client(name: loadGenerator, executable: built("H2LoadClient"), runsUnderValgrind: false),
            Client(name: "Afar", executable: built("AfarClient")),
            Client(name: overLibcurl, executable: built("AfarClient"), transport: "curl"),
            Client(name: "URLSession", executable: built("URLSessionClient"), slowness: 10),
        ]
        if wanted.contains("Go"), let go = try? Executable.find("go") {
            clients.append(
                Client(
                    name: "Go", executable: try buildGo(with: go, in: folder), runsUnderValgrind: false,
                    versionCommand: "go version"))
        }
        let peer = built("AsyncHTTPClientClient")
        if FileManager.default.isExecutableFile(atPath: peer.path) {
            let resolved = Repository.root.appending(path: "Benchmarks/Package.resolved")
            clients.append(
                Client(
                    name: "AsyncHTTPClient", executable: peer, slowness: 2,
                    runsUnderValgrind: false,
                    versionCommand: "sed -n '/\"async-http-client\"/,/version/p' '\(resolved.path)'"))
        }
        return clients.filter { wanted.contains($0.name) }
    }

    private static func built(_ name: String) -> URL { Executable.folder.appending(path: name) }

    private static func buildGo(with go: URL, in folder: URL) throws -> URL {
        let client = folder.appending(path: "GoClient")
        let source = Repository.root.appending(path: "Benchmarks/Clients/Go/main.go")
        _ = try Executable.run(
            go, ["build", "-o", client.path, source.path], environment: ["GOPROXY": "off", "GOTOOLCHAIN": "local"])
        return client
    }
}
