/// Something that clients are measured at.
struct Workload: Sendable {
    /// What a client does; the names are those that the clients know.
    enum Action: String {
        case get, decode, download, discard, upload, sendStream, sendForm, linger

        /// Whether the file is read, and not written.
        var sends: Bool { [.upload, .sendStream, .sendForm].contains(self) }
    }

    let name: String
    let title: String
    let action: Action
    let path: String
    /// The requests at once, each on a connection of its own.
    let inFlight: Int
    /// The requests of a round; slow clients make fewer.
    let requests: Int
    let rounds: Int
    /// The clients that have code for it; nil for all.
    var clients: [String]?

    var isBulk: Bool { requests == 1 }

    func includes(_ client: Client) -> Bool { clients?.contains(client.name) ?? true }

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
            name: "json-64", title: "JSON of 1 kB, decoded, 64 in flight", action: .decode, path: Site.json,
            inFlight: 64, requests: 24_000, rounds: 5),
        Workload(
            name: "download", title: "Download of 1 GiB to a file", action: .download, path: Site.large,
            inFlight: 1, requests: 1, rounds: 3),
        Workload(
            name: "discard", title: "Download of 1 GiB, thrown away", action: .discard, path: Site.large,
            inFlight: 1, requests: 1, rounds: 3),
        Workload(
            name: "upload", title: "Upload of 1 GiB from a file", action: .upload, path: Site.uploads,
            inFlight: 1, requests: 1, rounds: 3),
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
