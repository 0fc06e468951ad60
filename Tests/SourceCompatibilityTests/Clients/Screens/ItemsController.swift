import Afar

#if !swift(>=6)
    /// Represents a framework's controllers, which are isolated to the main actor.
    @preconcurrency @MainActor class ViewController {}

    /// A controller whose superclass is isolated to the main actor. Its closures aren't isolated, but can modify it,
    /// because handlers are called on the main queue.
    class DetailController: ViewController {
        var text = ""
        var fraction = 0.0
        var status = 0
        var lines = 0
        var error: AFError?
        var finished: (() -> Void)?

        func load(_ url: URL) {
            AF.request(url)
                .validate()
                .onHTTPResponse { self.status = $0.statusCode }
                .downloadProgress { self.fraction = $0.fractionCompleted }
                .responseString { [weak self] response in
                    guard let self else { return }
                    switch response.result {
                    case let .success(text): self.text = text
                    case let .failure(error): self.error = error
                    }
                    self.count(url)
                }
        }

        func count(_ url: URL) {
            AF.streamRequest(url).responseStream { stream in
                switch stream.event {
                case .stream: self.lines += 1
                case .complete: self.save(url)
                }
            }
        }

        func save(_ url: URL) {
            AF.download(url).responseData { response in
                self.error = response.error
                AF.upload(multipartFormData: { $0.append(Data(self.text.utf8), withName: "text") }, to: url)
                    .uploadProgress { self.fraction = $0.fractionCompleted }
                    .response { _ in self.finished?() }
            }
        }
    }

    /// A typical controller. Its class isn't isolated to an actor, but its closures use it anyway.
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
