import Afar
import Foundation

struct FeedLine: Decodable, Equatable, Sendable {
    let id: Int
    let text: String
}

/// Reads an endless stream from a service.
final class FeedClient: @unchecked Sendable {
    private let session: Session
    private let base: String
    private let queue = DispatchQueue(label: "feed")
    private(set) var token: DataStreamRequest.CancellationToken?

    init(base: String, session: Session = .default) {
        self.base = base
        self.session = session
    }

    func lines(
        _ path: String, onLine: @escaping @Sendable (FeedLine) -> Void,
        completion: @escaping @Sendable (DataStreamRequest.Completion) -> Void
    ) -> DataStreamRequest {
        session.streamRequest(base + path, method: .get, headers: ["Accept": "application/x-ndjson"])
            .validate(statusCode: [200])
            .responseStreamDecodable(of: FeedLine.self, on: queue, using: JSONDecoder()) { stream in
                switch stream.event {
                case let .stream(result):
                    switch result {
                    case let .success(line): onLine(line)
                    case let .failure(error): print(error)
                    }
                case let .complete(done):
                    completion(done)
                }
            }
    }

    func bytes(_ path: String, until limit: Int, completion: @escaping @Sendable (Int, AFError?) -> Void) {
        let count = Tally()
        session.streamRequest(base + path).responseStream(on: queue) { stream in
            switch stream.event {
            case let .stream(.success(data)):
                count.add(data.count)
                if count.value >= limit { stream.cancel() }
            case let .complete(done):
                completion(count.value, done.error)
            }
        }
    }

    func strict(_ path: String, completion: @escaping @Sendable (Int, AFError?) -> Void) {
        let count = Tally()
        session.streamRequest(base + path, automaticallyCancelOnStreamError: true)
            .responseStreamString(on: queue) { stream in
                if let completed = stream.completion { return completion(count.value, completed.error) }
                guard stream.value != nil else { return }
                count.add(1)
                throw URLError(.cannotDecodeRawData)
            }
    }
}

final class Tally: @unchecked Sendable {
    private let lock = NSLock()
    private var sum = 0

    var value: Int { lock.withLock { sum } }

    func add(_ number: Int) { lock.withLock { sum += number } }
}
