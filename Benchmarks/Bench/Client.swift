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

    /// All that have been built.
    static func available() throws -> [Client] {
        [
            Client(name: "libcurl", executable: built("RawCurl"), decodes: false),
            Client(name: "Afar", executable: built("AfarClient")),
            Client(name: "URLSession", executable: built("URLSessionClient"), slowness: 10),
            Client(name: "AsyncHTTPClient", executable: built("AsyncHTTPClientClient"), slowness: 2),
        ].filter { FileManager.default.isExecutableFile(atPath: $0.executable.path) }
    }

    private static func built(_ name: String) -> URL { Executable.folder.appending(path: name) }
}
