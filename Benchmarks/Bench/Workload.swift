/// A kind of work to measure the clients with.
struct Workload: Sendable {
    /// What the client does. The raw values match those that the clients accept.
    enum Action: String {
        case get, exchange, decode, download, discard, upload, sendStream, sendForm, linger

        /// Whether the client reads the file instead of writing it.
        var sends: Bool { [.upload, .sendStream, .sendForm].contains(self) }
    }

    /// The server for the workload.
    enum Server {
        /// nginx over plain HTTP.
        case nginx
        /// nginx over TLS.
        case secure
        /// nginx over TLS with HTTP/2.
        case http2
        /// nghttpd, which serves HTTP/2 over TLS.
        case nghttpd
        /// A server that responds only after all requests have arrived.
        case gathering
    }

    let name: String
    let title: String
    let action: Action
    let path: String
    var server = Server.nginx
    /// The number of concurrent requests. Each uses its own connection, unless ``isShared``.
    let inFlight: Int
    /// The number of requests per round. Slow clients make fewer.
    let requests: Int
    let rounds: Int
    /// Whether all requests share one connection.
    var isShared: Bool { server == .http2 || server == .nghttpd }
    /// The clients that implement this workload, or `nil` for all except h2load.
    var clients: [String]?
    /// The client that the others are compared with.
    var yardstick: String { action == .exchange ? Client.loadGenerator : Client.yardstick }

    var isBulk: Bool { requests == 1 }

    /// Whether valgrind can count the instructions in a reasonable time.
    var isCountable: Bool { !isBulk && inFlight < 1_000 }

    /// Returns the number of requests that a client makes per round. With a gathering server, it is a multiple of
    /// `inFlight`.
    func requests(of client: Client, share: Double) -> Int {
        if isBulk { return 1 }
        let requests = Int(Double(requests) * share) / client.slowness
        return server == .gathering ? max(1, requests / inFlight) * inFlight : requests
    }

    func includes(_ client: Client) -> Bool {
        clients?.contains(client.name) ?? (client.name != Client.loadGenerator)
    }

    static let all = [
        Workload(
            name: "tiny-1", title: "Tiny GETs, one at a time", action: .get, path: Site.tiny,
            inFlight: 1, requests: 12_000, rounds: 5),
        Workload(
            name: "tiny-64", title: "Tiny GETs, 64 in flight", action: .get, path: Site.tiny,
            inFlight: 64, requests: 32_000, rounds: 5),
        Workload(
            name: "tiny-256", title: "Tiny GETs, 256 in flight", action: .get, path: Site.tiny,
            inFlight: 256, requests: 32_000, rounds: 5),
        Workload(
            name: "gather-1k", title: "Tiny GETs, answered after all 1,000 arrived", action: .get, path: Site.tiny,
            server: .gathering, inFlight: 1_000, requests: 20_000, rounds: 3),
        Workload(
            name: "gather-10k", title: "Tiny GETs, answered after all 10,000 arrived", action: .get, path: Site.tiny,
            server: .gathering, inFlight: 10_000, requests: 40_000, rounds: 3,
            clients: [Client.yardstick, "Afar", Client.overLibcurl, "Go"]),
        Workload(
            name: "tls-1", title: "Tiny GETs over TLS, one at a time", action: .get, path: Site.tiny,
            server: .secure, inFlight: 1, requests: 8_000, rounds: 5,
            clients: [Client.yardstick, "Afar", Client.overLibcurl, "Go"]),
        Workload(
            name: "tls-warm", title: "Tiny GETs over TLS, 64 in flight", action: .get, path: Site.tiny,
            server: .secure, inFlight: 64, requests: 24_000, rounds: 5,
            clients: [Client.yardstick, "Afar", Client.overLibcurl, "Go"]),
        Workload(
            name: "tls-cold", title: "Tiny GETs over TLS, each on a new connection", action: .get, path: Site.closing,
            server: .secure, inFlight: 16, requests: 4_000, rounds: 3,
            clients: [Client.yardstick, "Afar", Client.overLibcurl, "Go"]),
        Workload(
            name: "http2-64", title: "Tiny GETs over HTTP/2, 64 in flight on one connection", action: .get,
            path: Site.tiny, server: .http2, inFlight: 64, requests: 24_000, rounds: 5,
            clients: [Client.yardstick, "Afar"]),
        Workload(
            name: "http2-nghttpd", title: "Tiny GETs over HTTP/2 from nghttpd, 64 in flight on one connection",
            action: .get, path: Site.tiny, server: .nghttpd, inFlight: 64, requests: 24_000, rounds: 5,
            clients: [Client.yardstick, "Afar"]),
        Workload(
            name: "http2-engine", title: "Tiny GETs over HTTP/2 without a session, 64 in flight on one connection",
            action: .exchange, path: Site.tiny, server: .nghttpd, inFlight: 64, requests: 96_000, rounds: 5,
            clients: [Client.loadGenerator, "Afar"]),
        Workload(
            name: "http2-engine-100", title: "Tiny GETs over HTTP/2 without a session, 100 in flight on one connection",
            action: .exchange, path: Site.tiny, server: .nghttpd, inFlight: 100, requests: 96_000, rounds: 5,
            clients: [Client.loadGenerator, "Afar"]),
        Workload(
            name: "json-64", title: "JSON of 1 kB, decoded, 64 in flight", action: .decode, path: Site.json,
            inFlight: 64, requests: 24_000, rounds: 5),
        Workload(
            name: "download", title: "Download of 1 GiB to a file", action: .download, path: Site.large,
            inFlight: 1, requests: 1, rounds: 3),
        Workload(
            name: "discard", title: "Download of 1 GiB, discarded", action: .discard, path: Site.large,
            inFlight: 1, requests: 1, rounds: 3),
        Workload(
            name: "upload", title: "Upload of 1 GiB from a file", action: .upload, path: Site.uploads,
            inFlight: 1, requests: 1, rounds: 3),
        // Clients use HTTP/2 if there are fewer connections than concurrent requests.
        Workload(
            name: "http2-discard", title: "Download of 1 GiB over HTTP/2, discarded", action: .discard,
            path: Site.large, server: .http2, inFlight: 2, requests: 1, rounds: 3, clients: [Client.yardstick, "Afar"]),
        Workload(
            name: "http2-upload", title: "Upload of 1 GiB over HTTP/2 from a file", action: .upload,
            path: Site.uploads, server: .http2, inFlight: 2, requests: 1, rounds: 3,
            clients: [Client.yardstick, "Afar"]),
        Workload(
            name: "upload-stream", title: "Upload of 1 GiB from a stream", action: .sendStream, path: Site.uploads,
            inFlight: 1, requests: 1, rounds: 3, clients: ["Afar"]),
        Workload(
            name: "upload-form", title: "Upload of 1 GiB as a part of a form", action: .sendForm, path: Site.uploads,
            inFlight: 1, requests: 1, rounds: 3, clients: ["Afar"]),
        Workload(
            name: "linger", title: "Stream of 1 GiB, 1 ms a chunk", action: .linger, path: Site.large,
            inFlight: 1, requests: 1, rounds: 1, clients: ["Afar"]),
    ]
}
