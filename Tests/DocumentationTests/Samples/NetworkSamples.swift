import Afar

/// The samples of Docs/Networking.md.
enum NetworkSamples {
    static func http1() -> (Session, DataRequest) {
        var configuration = SessionConfiguration.default
        configuration.httpVersion = .http1
        let session = Session(configuration: configuration)
        let request = AF.request("https://api.example.com/me").options { $0.httpVersion = .http1 }
        return (session, request)
    }

    static func proxy(password: String) throws -> Session {
        var configuration = SessionConfiguration.default
        var network = NetworkSettings()
        network.proxies = ProxySettings(
            try Proxy(host: "proxy.example", port: 3128, credential: .init(user: "ann", password: password)),
            exclusions: ["localhost", ".internal.example", "10.0.0.0/8"])
        configuration.network = network
        let session = Session(configuration: configuration)
        return session
    }

    static func socket() async throws -> String {
        var configuration = SessionConfiguration.default
        configuration.network = NetworkSettings()
        configuration.network?.unixSocket = "/var/run/docker.sock"
        let docker = Session(configuration: configuration)
        let version = try await docker.request("http://docker/version").serializingString().value
        return version
    }

    static func otherAddress() -> NetworkSettings {
        var network = NetworkSettings()
        network.connectTo = ["api.example.com:443": "10.0.0.5:8443"]
        return network
    }

    static func options(_ session: Session, direct: NetworkSettings) async throws -> Data {
        let report = try await session.request("https://reports.example/large")
            .options { options in
                options.deadline = 30
                options.connectTimeout = 2
                options.network = direct
            }
            .serializingData().value
        return report
    }

    static func bandwidth(_ configuration: inout SessionConfiguration) {
        configuration.bandwidthLimiter = BandwidthLimiter(upload: 1_000_000, download: 5_000_000)
    }

    static func bandwidth(_ session: Session) async throws -> URL {
        let file = try await session.download("https://files.example.com/backup")
            .options { $0.bandwidthLimiter = BandwidthLimiter(download: 500_000) }
            .serializingDownloadedFileURL().value
        return file
    }

    static func limited() -> Session {
        let limiter = RateLimiter(requestsPerSecond: 10, burst: 20)
        let session = Session(interceptor: limiter, stages: [RequestLimit(perHost: 4)])
        return session
    }

    static func shutdown(_ session: Session) async -> Bool {
        let isDone = await session.shutdown(drainingFor: 20)
        return isDone
    }
}
