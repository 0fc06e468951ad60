import Afar

struct Service: RequestInterceptor {
    let token: String

    func adapt(
        _ urlRequest: URLRequest,
        for session: Session,
        completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void
    ) {
        var urlRequest = urlRequest
        urlRequest.headers.update(.authorization(bearerToken: token))
        completion(.success(urlRequest))
    }

    func retry(
        _ request: Request,
        for session: Session,
        dueTo error: any Error,
        completion: @escaping @Sendable (RetryResult) -> Void
    ) {
        let isBusy = request.response?.statusCode == 503
        completion(isBusy && request.retryCount < 3 ? .retryWithDelay(0.1) : .doNotRetry)
    }
}

enum SessionSamples {
    static func configured() -> Session {
        var configuration = SessionConfiguration.default
        configuration.timeoutIntervalForConnect = 5
        configuration.timeoutIntervalForRequest = 15
        configuration.timeoutIntervalForResource = 60
        configuration.maximumResponseBodySize = 8 * 1024 * 1024
        configuration.httpMaximumConnectionsPerHost = 12
        configuration.headers.update(.userAgent("Weather/2.1"))

        let session = Session(configuration: configuration)
        return session
    }

    static func defaults() async throws -> String {
        struct Note: Decodable, Sendable { var text: String }

        var configuration = SessionConfiguration.default
        configuration.baseURL = URL(string: "https://api.example.com/v1/")
        configuration.encoder = JSONParameterEncoder.default
        configuration.validation = .standard
        let session = Session(configuration: configuration)

        let note = try await session.request("notes/7").serializingDecodable(Note.self).value
        return note.text
    }

    static func preconnected(_ session: Session) async throws {
        try await session.preconnect(to: "https://api.example.com", count: 4)
    }

    static func intercepted() async throws {
        let request = AF.request("https://api.example.com/busy", interceptor: Service(token: "s3cret"))
        print(try await request.validate().serializingString().value)
        print("\(request.retryCount) retries")
    }

    static func urlSession() -> Session {
        let session = Session(transport: URLSessionTransport())
        return session
    }
}

#if canImport(AfarCurl)
    extension SessionSamples {
        static func ownAuthority() -> Session {
            var configuration = HTTPTransport.Configuration()
            configuration.certificateBundle = URL(filePath: "/etc/ssl/our-own-authority.pem")
            configuration.maximumConnectionsPerHost = 20

            let session = Session(transport: HTTPTransport(configuration: configuration))
            return session
        }

        static func manyConnections() -> Session {
            var configuration = HTTPTransport.Configuration()
            configuration.maximumConnectionsPerHost = 1_000
            configuration.maximumIdleConnections = 1_000
            configuration.maximumIdleTime = 30

            let session = Session(transport: HTTPTransport(configuration: configuration))
            return session
        }

        static func statistics(_ session: Session) async {
            if let statistics = await session.connectionStatistics {
                for host in statistics.hosts {
                    print("\(host.origin): \(host.inUse) in use, \(host.idle) idle, \(host.waiting) waiting")
                }
            }
        }

        static func onTheNetworksThread() async throws -> Data {
            var configuration = HTTPTransport.Configuration()
            configuration.maximumThreads = 1
            let transport = HTTPTransport(configuration: configuration)
            let session = Session(transport: transport)
            let body = try await withTaskExecutorPreference(transport.taskExecutor) {
                try await session.request("https://api.example.com/notes").serializingData().value
            }
            return body
        }
    }
#endif
