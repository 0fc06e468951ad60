import Afar

struct Item: Codable, Equatable, Sendable, Identifiable {
    let id: Int
    let text: String
}

/// What a view observes. Its requests' closures capture it and change what it shows.
@MainActor
final class ItemsViewModel {
    private(set) var items: [Item] = []
    private(set) var title = "Items"
    private(set) var isLoading = false { didSet { loadingChanges += 1 } }
    private(set) var errorMessage: String?
    private(set) var fraction = 0.0
    private(set) var lines: [String] = []
    private(set) var loadingChanges = 0
    var onChange: (() -> Void)?

    private let session: Session
    private let base: URL
    private var request: DataRequest?

    init(session: Session = .default, base: URL) {
        self.session = session
        self.base = base
    }

    func load() {
        isLoading = true
        request?.cancel()
        request = session.request(base.appendingPathComponent("items"))
            .validate()
            .downloadProgress { [weak self] progress in
                MainActor.assumeIsolated { self?.fraction = progress.fractionCompleted }
            }
            .responseDecodable(of: [Item].self) { [weak self] response in
                MainActor.assumeIsolated { self?.finish(response) }
            }
    }

    private func finish(_ response: AFDataResponse<[Item]>) {
        isLoading = false
        switch response.result {
        case let .success(items): self.items = items
        case let .failure(error): errorMessage = error.localizedDescription
        }
        onChange?()
    }

    func loadLater() async {
        isLoading = true
        defer { isLoading = false }
        let response = await session.request(base.appendingPathComponent("items")).validate()
            .serializingDecodable([Item].self).response
        switch response.result {
        case let .success(items): self.items = items
        case let .failure(error) where error.isExplicitlyCancelledError: break
        case let .failure(error): errorMessage = error.errorDescription
        }
    }

    func follow() async {
        let stream = session.streamRequest(base.appendingPathComponent("item"))
        for await event in stream.streamTask().streamingDecodables(Item.self).prefix(1) {
            if case let .stream(.success(item)) = event.event { lines.append(item.text) }
        }
    }

    func readLines(done: @escaping @MainActor () -> Void) {
        session.streamRequest(base.appendingPathComponent("chunked/3")).responseStreamString { [weak self] stream in
            switch stream.event {
            case let .stream(result):
                switch result {
                case let .success(string): MainActor.assumeIsolated { self?.lines.append(string) }
                }
            case let .complete(completion):
                let status = completion.response?.statusCode
                MainActor.assumeIsolated {
                    self?.title = "\(status ?? 0)"
                    done()
                }
            }
        }
    }
}

#if !swift(>=6)
    /// A controller as most are: nothing in it says which thread it lives on, and its closures use it all the same.
    class ItemsController {
        var items: [Item] = []
        var status: Int?
        var spinnerIsVisible = false
        var completed = 0.0
        let session: Session
        var completion: (() -> Void)?

        init(session: Session = AF) {
            self.session = session
        }

        func viewDidLoad(url: String) {
            spinnerIsVisible = true
            var attempts = 0
            session.request(
                url, method: .get,
                interceptor: Retrier { _, _, _, completion in
                    attempts += 1
                    completion(attempts < 3 ? .retry : .doNotRetry)
                }
            )
            .validate { _, response, _ in
                self.status = response.statusCode
                return .success(())
            }
            .uploadProgress { self.completed = $0.fractionCompleted }
            .downloadProgress { progress in self.completed = progress.fractionCompleted }
            .responseDecodable(of: [Item].self) { response in
                self.spinnerIsVisible = false
                if let items = response.value { self.items = items }
                self.completion?()
            }
        }

        func fetch<T: Decodable>(_ url: String, completion: @escaping (Result<T, AFError>) -> Void) {
            session.request(url).responseDecodable(of: T.self) { completion($0.result) }
        }

        func awaitItems<T: Decodable>(_ url: String, as type: T.Type) async throws -> T {
            try await session.request(url).serializingDecodable(T.self).value
        }

        func send<T: Encodable>(_ value: T, to url: String, completion: @escaping (Int?) -> Void) {
            session.request(url, method: .post, parameters: value, encoder: JSONParameterEncoder.default)
                .response { completion($0.response?.statusCode) }
        }

        func post(_ values: [String: Any], to url: String, completion: @escaping ([String: Any]?) -> Void) {
            var values = values
            values["nested"] = ["list": [1, "two", NSNull()] as [Any]] as [String: Any]
            session.request(url, method: .post, parameters: values, encoding: JSONEncoding.default)
                .responseJSON { completion($0.value as? [String: Any]) }
        }

        func save(_ url: String, completion: @escaping (URL?) -> Void) {
            let destination: DownloadRequest.Destination = { temporaryURL, response in
                self.status = response.statusCode
                return (temporaryURL.appendingPathExtension("saved"), [.removePreviousFile])
            }
            session.download(url, to: destination).response { completion($0.fileURL) }
        }
    }
#endif
