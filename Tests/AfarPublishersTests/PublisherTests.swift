import AfarCore
import AfarPublishers
import AfarSerializers
import AfarTesting
import Foundation
import HTTPTypes
import Testing

#if canImport(Combine)
    import Combine
#else
    import OpenCombine
#endif

@Suite struct PublisherTests {
    private let mock = MockTransport(stubs: [
        Stub(.get, "/user", .json(["name": "Ada"])), Stub(.get, "/text", .text("hello")),
        Stub(.get, "/fails", .failure(.cannotConnect)), Stub(.get, "/pieces", .text("abcdef").chunked(into: 2)),
        Stub(.get, "/breaks", .text("abcdef").interrupted(after: 4)),
        Stub(.get, "/slow", .text("late").delayed(by: .seconds(60))),
    ])
    private let queue = DispatchQueue(label: "test")

    private struct User: Decodable, Sendable, Equatable { var name: String }

    /// Returns descriptions of a publisher's values and its completion.
    private func events<P: Publisher>(of publisher: P, _ describe: @escaping (P.Output) -> String) async -> [String] {
        let events = Locked<[String]>([])
        let subscription = Locked<AnyCancellable?>(nil)
        await withCheckedContinuation { continuation in
            let cancellable = publisher.sink { completion in
                switch completion {
                case .finished: events.withLock { $0.append("finished") }
                case .failure(let error):
                    let code = (error as? AFError)?.transportError?.code.description
                    events.withLock { $0.append("failed: \(code ?? "\(error)")") }
                }
                continuation.resume()
            } receiveValue: { value in
                events.withLock { $0.append(describe(value)) }
            }
            subscription.withLock { $0 = cancellable }
        }
        return events.withLock { $0 }
    }

    private func session() -> Session { Session(startRequestsImmediately: false, transport: mock) }

    @Test func aResponseIsPublishedOnceBeforeTheCompletion() async {
        let session = session()
        let url = "http://mock.test/"
        let decoded = session.request(url + "user").publishDecodable(type: User.self, queue: queue)
        #expect(await events(of: decoded) { "\($0.value?.name ?? "")" } == ["Ada", "finished"])
        let text = session.request(url + "text").publishString(queue: queue)
        #expect(await events(of: text.value()) { $0 } == ["hello", "finished"])
        let data = session.request(url + "text").publishData(queue: queue)
        #expect(await events(of: data.result()) { "\((try? $0.get())?.count ?? -1)" } == ["5", "finished"])
        let plain = session.request(url + "text").publishUnserialized(queue: queue)
        #expect(await events(of: plain) { "\($0.data?.count ?? -1)" } == ["5", "finished"])
        let custom = session.request(url + "text").publishResponse(using: StringResponseSerializer(), on: queue)
        #expect(await events(of: custom) { $0.value ?? "" } == ["hello", "finished"])
    }

    @Test func failuresArePartOfTheResponseAndFailValuePublishers() async {
        let session = session()
        let url = "http://mock.test/fails"
        let response = session.request(url).publishString(queue: queue)
        #expect(
            await events(of: response) { $0.error?.transportError?.code.description ?? "" } == [
                "cannotConnect", "finished",
            ])
        #expect(
            await events(of: session.request(url).publishString(queue: queue).value()) { $0 } == [
                "failed: cannotConnect"
            ])
    }

    @Test func downloadsArePublished() async throws {
        let session = session()
        let url = "http://mock.test/text"
        let file = session.download(url).publishURL(queue: queue)
        #expect(
            await events(of: file.value()) { (try? String(contentsOf: $0, encoding: .utf8)) ?? "" } == [
                "hello", "finished",
            ])
        let text = session.download(url).publishString(queue: queue)
        #expect(await events(of: text) { $0.value ?? "" } == ["hello", "finished"])
        let data = session.download(url).publishData(queue: queue)
        #expect(await events(of: data) { "\($0.value?.count ?? -1)" } == ["5", "finished"])
        let plain = session.download(url).publishUnserialized(queue: queue)
        #expect(await events(of: plain.result()) { "\((try? $0.get()) != nil)" } == ["true", "finished"])
        let user = session.download("http://mock.test/user").publishDecodable(type: User.self, queue: queue)
        #expect(await events(of: user.value()) { $0.name } == ["Ada", "finished"])
    }

    @Test func streamsArePublishedInChunksWithTheirCompletion() async {
        let session = session()
        let pieces = session.streamRequest("http://mock.test/pieces").publishString(queue: queue)
        let reported = await events(of: pieces) { stream in
            if case .stream(.success(let text)) = stream.event { text } else { "complete" }
        }
        #expect(reported == ["ab", "cd", "ef", "complete", "finished"])
        let data = session.streamRequest("http://mock.test/pieces").publishData(queue: queue)
        #expect(await events(of: data.value()) { "\($0.count)" } == ["2", "2", "2", "finished"])
        let broken = session.streamRequest("http://mock.test/breaks").publishString(queue: queue)
        #expect(await events(of: broken.value()) { $0 } == ["abcd", "failed: bodyIncomplete"])
        let user = session.streamRequest("http://mock.test/user").publishDecodable(type: User.self, queue: queue)
        #expect(await events(of: user.value()) { $0.name } == ["Ada", "finished"])
    }

    @Test func nothingIsSentBeforeTheFirstDemand() async {
        let session = session()
        let request = session.request("http://mock.test/text")
        let publisher = request.publishString(queue: queue)
        let subscriber = ManualSubscriber<DataResponsePublisher<String>.Output>()
        publisher.subscribe(subscriber)
        #expect(request.state == .initialized)
        subscriber.subscription?.request(.none)
        #expect(request.state == .initialized)
        subscriber.subscription?.request(.max(1))
        subscriber.subscription?.request(.unlimited)
        await subscriber.completed.value
        #expect(subscriber.count.withLock { $0 } == 1)
        #expect(mock.requests.count == 1)
    }

    @Test func cancellingCancelsTheRequestAndNothingIsPublished() async {
        let session = session()
        let request = session.request("http://mock.test/slow")
        let ended = Deferred<Void>()
        let received = Locked(0)
        let cancellable = request.publishString(queue: queue).sink { _ in received.withLock { $0 += 1 } }
        request.response(queue: queue) { _ in ended.fulfill(()) }
        cancellable.cancel()
        cancellable.cancel()
        await ended.value
        #expect(request.isCancelled)
        await withCheckedContinuation { continuation in queue.async { continuation.resume() } }
        #expect(received.withLock { $0 } == 0)
    }

    @Test func aFinishedSubscriptionCancelsNothing() async {
        let session = session()
        let request = session.request("http://mock.test/text")
        let publisher = request.publishString(queue: queue)
        #expect(await events(of: publisher) { $0.value ?? "" } == ["hello", "finished"])
        #expect(!request.isCancelled && request.isFinished)
        #expect(await events(of: publisher) { $0.value ?? "" } == ["hello", "finished"])
        #expect(mock.requests.count == 1)
    }
}

/// A subscriber without automatic demand.
private final class ManualSubscriber<Input: Sendable>: Subscriber, @unchecked Sendable {
    // Sendable because the subscription is set before `subscribe` returns, and locks guard the rest.
    typealias Failure = Never

    private(set) var subscription: (any Subscription)?
    let count = Locked(0)
    let completed = Deferred<Void>()

    func receive(subscription: any Subscription) { self.subscription = subscription }

    func receive(_ input: Input) -> Subscribers.Demand {
        count.withLock { $0 += 1 }
        return .none
    }

    func receive(completion: Subscribers.Completion<Never>) { completed.fulfill(()) }
}
