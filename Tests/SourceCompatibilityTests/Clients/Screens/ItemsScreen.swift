import Afar

struct Item: Codable, Equatable, Sendable, Identifiable {
    let id: Int
    let text: String
}

/// A view model. The closures of its requests capture it and modify its properties.
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
