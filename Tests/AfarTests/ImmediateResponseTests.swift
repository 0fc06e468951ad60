import Afar
import Foundation
import HTTPTypes
import Synchronization
import Testing

/// Responses that are available without waiting, such as those of a cache.
@Suite(.timeLimit(.minutes(1))) struct ImmediateResponseTests {
    /// A value whose decoding requires a lock.
    private struct Locking: Decodable, Sendable {
        static let lock = Mutex(0)

        init(from decoder: any Decoder) throws { Self.lock.withLock { $0 += 1 } }
    }

    private let url = "http://cache.example/value"

    /// Creates a session that answers from a cache and has no network.
    private func makeSession() -> Session {
        let store = MemoryCacheStore()
        store.store(
            CachedResponse(
                url: url, variant: "", status: 200,
                fields: [.cacheControl: "max-age=86400", .contentType: "application/json"],
                body: Data("{}".utf8), requestDate: .now, responseDate: .now))
        var configuration = SessionConfiguration.default
        configuration.cacheStore = store
        configuration.requestCachePolicy = .returnCacheDataDontLoad
        return Session(configuration: configuration)
    }

    /// The thread that creates the request can hold locks that decoding requires.
    @Test func userCodeDoesNotRunBeforeTheCallReturns() async throws {
        let session = makeSession()
        for _ in 0..<50 {
            let task = Locking.lock.withLock { _ in session.request(url).serializingDecodable(Locking.self) }
            _ = try await task.value
        }
    }

    @Test func aResponseThatNobodyAwaitsIsStillDelivered() async {
        let session = makeSession()
        for _ in 0..<20 {
            await withCheckedContinuation { continuation in
                let request = session.request(url)
                _ = request.serializingDecodable(Locking.self)
                request.responseData(queue: .global()) { _ in continuation.resume() }
            }
        }
    }

    @Test func aResponseCanBeAwaitedLate() async throws {
        let session = makeSession()
        for delay in [0, 1, 2, 5] {
            let task = session.request(url).serializingString()
            try await Task.sleep(for: .milliseconds(delay))
            #expect(try await task.value == "{}")
            #expect(try await task.value == "{}")
        }
    }

    @Test func manyTasksAwaitTheSameResponse() async throws {
        let session = makeSession()
        for _ in 0..<50 {
            let task = session.request(url).serializingString()
            try await withThrowingTaskGroup(of: String.self) { group in
                for _ in 0..<8 { group.addTask { try await task.value } }
                for try await text in group { #expect(text == "{}") }
            }
        }
    }

    @Test func aCancelledRequestEnds() async {
        let session = makeSession()
        for _ in 0..<50 {
            let task = session.request(url).serializingString()
            task.cancel()
            let response = await task.response
            #expect(response.value == "{}" || response.error?.isExplicitlyCancelledError == true)
        }
    }
}
