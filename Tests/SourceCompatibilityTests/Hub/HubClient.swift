import Afar

/// A client of a code hosting service.
final class HubClient: Sendable {
    private let session: Session
    private let base: String
    private let decoder: JSONDecoder

    init(base: String, credential: HubCredential, monitors: [EventMonitor] = []) {
        self.base = base
        decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601

        let configuration = URLSessionConfiguration.af.default
        configuration.timeoutIntervalForRequest = 30
        configuration.headers.add(.userAgent("HubClient/1.0"))
        configuration.headers.add(name: "X-Hub-Version", value: "2022-11-28")

        let authentication = AuthenticationInterceptor(
            authenticator: HubAuthenticator(tokenURL: "\(base)/token"), credential: credential)
        let retries = RetryPolicy(retryLimit: 2, exponentialBackoffScale: 0.001)
        session = Session(
            configuration: configuration,
            interceptor: Interceptor(adapters: [], retriers: [retries], interceptors: [authentication]),
            eventMonitors: monitors)
    }

    /// Creates a request whose errors contain the service's message.
    private func request(_ convertible: URLRequestConvertible) -> DataRequest {
        session.request(convertible)
            .validate { _, response, data in
                guard response.statusCode >= 400 else { return .success(Void()) }
                if response.statusCode == 401 || response.statusCode >= 500 {
                    return .failure(
                        AFError.responseValidationFailed(reason: .unacceptableStatusCode(code: response.statusCode)))
                }
                if response.statusCode == 404 { return .failure(HubError.notFound) }
                let refusal = data.flatMap { try? JSONDecoder().decode(Refusal.self, from: $0) }
                return .failure(
                    HubError.refused(status: response.statusCode, message: refusal?.message ?? "no reason given"))
            }
            .validate(contentType: ["application/json"])
    }

    private static func own(_ error: AFError) -> HubError {
        error.underlyingError as? HubError ?? .transport(error)
    }

    @discardableResult
    func repository(
        _ owner: String, _ name: String, completion: @escaping @Sendable (Result<Repository, HubError>) -> Void
    ) -> Request {
        request(HubRouter.repository(owner: owner, name: name))
            .responseDecodable(of: Repository.self, queue: .global(), decoder: decoder) { response in
                debugPrint(response)
                completion(response.result.mapError(Self.own))
            }
    }

    func deleteIssue(_ number: Int, of repository: String, completion: @escaping @Sendable (HubError?) -> Void) {
        request(HubRouter.deleteIssue(repository: repository, number: number))
            .responseDecodable(of: Empty.self, queue: .global(), emptyResponseCodes: [204]) { response in
                completion(response.error.map(Self.own))
            }
    }

    func issues(of repository: String, labels: [String] = []) async throws -> [Ticket] {
        var filter = IssueFilter(labels: labels)
        var all: [Ticket] = []
        while true {
            let page = try await request(HubRouter.issues(repository: repository, filter: filter))
                .serializingDecodable([Ticket].self, decoder: decoder)
                .value
            guard !page.isEmpty else { return all }
            all += page
            filter.page += 1
        }
    }

    func createIssue(_ title: String, labels: [String] = [], in repository: String) async -> Result<Ticket, HubError> {
        await request(HubRouter.createIssue(repository: repository, NewTicket(title: title, labels: labels)))
            .serializingDecodable(Ticket.self)
            .result
            .mapError(Self.own)
    }

    func close(_ number: Int, of repository: String) async throws -> Ticket {
        let changes: Parameters = ["state": "closed", "labels": ["done"]]
        let response = await request(
            HubRouter.editIssue(repository: repository, number: number, changes: changes)
        ).serializingDecodable(Ticket.self).response
        print(response.debugDescription)
        return try response.result.get()
    }

    func attach(_ notes: String, and file: URL, to release: Int) async throws -> [Asset] {
        let form = MultipartFormData(fileManager: .default)
        form.append(Data(notes.utf8), withName: "notes")
        form.append(file, withName: "asset")
        return try await session.upload(multipartFormData: form, to: "\(base)/releases/\(release)/assets")
            .uploadProgress { progress in print("sent \(progress.fractionCompleted)") }
            .validate(statusCode: 200...201)
            .serializingDecodable([Asset].self)
            .value
    }

    func archive(of repository: String, into folder: URL) async throws -> URL {
        let destination: DownloadRequest.Destination = { _, response in
            let name = response.suggestedFilename ?? "archive.zip"
            return (folder.appendingPathComponent(name), [.createIntermediateDirectories, .removePreviousFile])
        }
        let download = session.download("\(base)/archives/\(repository)", to: destination).validate()
        async let fraction = download.downloadProgress().reduce(0) { max($0, $1.fractionCompleted) }
        let file = try await download.serializingDownloadedFileURL().value
        print("\(await fraction * 100) % of the archive are there")
        return file
    }

    func events(_ limit: Int) async throws -> [Event] {
        var events: [Event] = []
        let stream = session.streamRequest("\(base)/events", automaticallyCancelOnStreamError: true).validate()
        for await part in stream.streamTask().streamingDecodables(Event.self) {
            switch part.event {
            case let .stream(.success(event)):
                events.append(event)
                if events.count == limit { part.cancel() }
            case let .stream(.failure(error)):
                throw error
            case let .complete(completion):
                if let error = completion.error, !error.isExplicitlyCancelledError { throw error }
            }
        }
        return events
    }

    func cancelEverything() async {
        await withCheckedContinuation { done in
            session.cancelAllRequests { done.resume() }
        }
    }
}
