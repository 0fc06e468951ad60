import Foundation
import GatheringServer
import Servers

/// The servers and files that the clients run against.
struct Stage {
    private let site: Site
    private let nginx: Nginx
    private let securePort: UInt16
    private let http2Port: UInt16
    /// The fraction of the workloads' requests to make.
    private let share: Double

    init(site: Site, share: Double) throws {
        self.site = site
        self.share = share
        securePort = try LoopbackPort.unused()
        http2Port = try LoopbackPort.unused()
        nginx = try Nginx(site: site, securePort: securePort, http2Port: http2Port)
    }

    /// Runs a workload with each client in turn. Interleaving the rounds spreads background load evenly over all
    /// clients.
    func measure(_ workload: Workload, _ clients: [Client], _ options: Options) throws -> WorkloadResult {
        let clients = clients.filter(workload.includes)
        let origin = try origin(for: workload)
        let rounds = options.rounds ?? (options.isQuick ? (workload.isBulk ? 1 : 2) : workload.rounds)
        var measured = clients.map { _ in [Measured]() }
        for _ in 0..<rounds {
            for (index, client) in clients.enumerated() {
                measured[index].append(try run(client, workload, at: origin))
            }
        }
        let figures = try zip(clients, measured).map { client, measured in
            var figures = Figures(client: client.name, rounds: measured)
            if options.countsInstructions { figures.counts = try counts(of: client, workload, at: origin) }
            return figures
        }
        return WorkloadResult(workload: workload, figures: figures)
    }

    /// Returns the address of the workload's server, and starts the server if necessary.
    private func origin(for workload: Workload) throws -> String {
        switch workload.server {
        case .nginx: return "http://127.0.0.1:\(nginx.port)"
        case .secure: return "https://127.0.0.1:\(securePort)"
        case .http2: return "https://127.0.0.1:\(http2Port)"
        case .nghttpd:
            let port = try LoopbackPort.unused()
            try Executable.serve(
                "nghttpd",
                [
                    "--address=127.0.0.1", "--htdocs=\(site.files.path)", String(port), site.key.path,
                    site.certificate.path,
                ], on: port)
            return "https://127.0.0.1:\(port)"
        case .gathering:
            let port = gathering_server_start(Int32(workload.inFlight), Site.tinyBody)
            guard port != 0 else { throw Failure("the server for \(workload.name) could not start") }
            return "http://127.0.0.1:\(port)"
        }
    }

    private func run(_ client: Client, _ workload: Workload, at origin: String) throws -> Measured {
        let requests = workload.requests(of: client, share: share)
        let warmUp = workload.server == .gathering ? workload.inFlight : requests / 8
        let job = job(client, workload, at: origin, requests: requests, warmUp: warmUp)
        let output = try Executable.run(client.executable, job.arguments, environment: environment(of: client))
        let measured = try JSONDecoder().decode(Measured.self, from: output)
        guard measured.yield == requests * job.yield else {
            throw Failure("\(client.name) returned a wrong result for \(workload.name): \(measured)")
        }
        return measured
    }

    /// Returns the counts of a client for a workload.
    func counts(of client: Client, _ workload: Workload) throws -> Counts? {
        try counts(of: client, workload, at: origin(for: workload))
    }

    private func counts(of client: Client, _ workload: Workload, at origin: String) throws -> Counts? {
        guard workload.isCountable, client.runsUnderValgrind else { return nil }
        let valgrind = try Executable.find("valgrind")
        let few = max(200, 4 * workload.inFlight)
        let counts = try [few, 3 * few].map { requests in
            let file = site.folder.appending(path: "callgrind")
            let job = job(client, workload, at: origin, requests: requests, warmUp: few)
            _ = try Executable.run(
                valgrind,
                ["--tool=callgrind", "--callgrind-out-file=\(file.path)", "--log-file=\(file.path).log"]
                    + [client.executable.path] + job.arguments,
                environment: environment(of: client))
            return try Counts(callgrindOutput: file)
        }
        return Counts.perRequest(counts[0], counts[1], difference: 2 * few)
    }

    /// Returns a client's arguments and the expected result of one request. Removes the files of earlier rounds.
    private func job(
        _ client: Client, _ workload: Workload, at origin: String, requests: Int, warmUp: Int
    ) -> (arguments: [String], yield: Int) {
        try? FileManager.default.removeItem(at: site.downloaded)
        try? FileManager.default.removeItem(at: site.uploaded)
        let action = workload.action == .decode && !client.decodes ? .get : workload.action
        let file = action.sends ? site.large : site.downloaded
        let arguments = [
            action.rawValue, origin + workload.path, file.path,
            String(requests), String(warmUp), String(workload.inFlight),
            String(workload.isShared ? 1 : workload.inFlight),
        ]
        let yield =
            switch action {
            case .get, .exchange: workload.path == Site.json ? Site.record.utf8.count : Site.tinyBody.utf8.count
            case .decode: Site.answer
            default: Site.gibibyte
            }
        return (arguments, yield)
    }

    /// Returns a client's environment variables.
    ///
    /// Temporary files are on the same file system as the final ones, so that moving them doesn't copy them.
    /// `SSL_CERT_FILE` names the certificate to trust.
    private func environment(of client: Client) -> [String: String] {
        var environment = ["TMPDIR": site.folder.path, "SSL_CERT_FILE": site.certificate.path]
        environment["AFAR_TRANSPORT"] = client.transport
        return environment
    }
}
