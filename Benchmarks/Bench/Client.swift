import Foundation
import Servers

/// A program that makes requests.
struct Client: Sendable {
    let name: String
    let executable: URL
    /// How much fewer requests it makes, because it is so much slower.
    var slowness = 1
    /// Whether it decodes what it fetches.
    var decodes = true
    /// Whether its instructions can be counted; valgrind breaks off with Go's runtime and AsyncHTTPClient's symbols.
    var runsUnderValgrind = true
    /// The transport that the client uses, if it has several.
    var transport: String?
    /// What to ask a shell for its version, if it is no other client's.
    var versionCommand: String?

    static let yardstick = "libcurl"
    static let names = [yardstick, "Afar", "URLSession", "Go", "AsyncHTTPClient"]
    /// Afar over libcurl, which runs if it is named.
    static let overLibcurl = "AfarCurl"

    /// The clients that there are on this machine, in the order of `names`, or those of them that are named.
    ///
    /// - Parameter folder: Where what must be built can be put.
    static func available(folder: URL, named wanted: [String]?) throws -> [Client] {
        let wanted = wanted ?? names
        var clients = [
            Client(name: yardstick, executable: built("RawCurl"), decodes: false),
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
