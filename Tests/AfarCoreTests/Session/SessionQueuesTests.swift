import AfarTesting
import Foundation
import Testing

@testable import AfarCore

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A session's queue properties. The properties always return queues, but the session uses only the queues that were
/// passed to its initializer.
struct SessionQueuesTests {
    private static let key = DispatchSpecificKey<String>()

    private func queue(_ label: String) -> DispatchQueue {
        let queue = DispatchQueue(label: label)
        queue.setSpecific(key: Self.key, value: label)
        return queue
    }

    /// Returns the labels of the queues on which a request is created and its response is serialized.
    private func places(_ session: Session) async -> [String?] {
        struct Place: URLRequestConvertible {
            let noted: Locked<[String?]>

            func asURLRequest() throws -> URLRequest {
                noted.withLock { $0.append(DispatchQueue.getSpecific(key: SessionQueuesTests.key)) }
                return try URLRequest(url: "http://mock/", method: .get)
            }
        }
        let noted = Locked<[String?]>([])
        let serializer = ClosureResponseSerializer<Void> { _, _, _, _ in
            noted.withLock { $0.append(DispatchQueue.getSpecific(key: Self.key)) }
        }
        _ = await session.request(Place(noted: noted)).serializingResponse(using: serializer).response
        return noted.withLock { $0 }
    }

    @Test func defaultQueuesTargetTheRootQueue() {
        let session = Session(rootQueue: queue("root"), transport: MockTransport { _ in .text("ok") })
        #expect(session.requestQueue.label == "root.requestQueue")
        #expect(session.serializationQueue.label == "root.serializationQueue")
        #expect(session.requestQueue.sync { DispatchQueue.getSpecific(key: Self.key) } == "root")
        #expect(session.serializationQueue.sync { DispatchQueue.getSpecific(key: Self.key) } == "root")
        #expect(session.request("http://mock/").serializationQueue === session.serializationQueue)
    }

    @Test func defaultQueuesAreNotUsed() async {
        let session = Session(rootQueue: queue("root"), transport: MockTransport { _ in .text("ok") })
        #expect(await places(session) == [nil, nil])
        #expect(session.state.queues.request == nil && session.state.queues.serialization == nil)
    }

    @Test func customQueuesAreUsedAndReturned() async {
        let (requests, serializers) = (queue("requests"), queue("serializers"))
        let session = Session(
            requestQueue: requests, serializationQueue: serializers, transport: MockTransport { _ in .text("ok") })
        #expect(await places(session) == ["requests", "serializers"])
        #expect(session.requestQueue === requests && session.serializationQueue === serializers)
        let request = session.request("http://mock/")
        #expect(request.serializationQueue === serializers && request.underlyingQueue === session.rootQueue)
    }

    @Test func aRequestReturnsItsEventMonitor() async {
        let monitor = ClosureEventMonitor(queue: DispatchQueue(label: "monitor"))
        let own = ClosureEventMonitor(queue: DispatchQueue(label: "own"))
        let session = Session(eventMonitors: [monitor], transport: MockTransport { _ in .text("ok") })
        let request = session.request("http://mock/").eventMonitor(own)
        let reported = Locked<[String]>([])
        monitor.requestDidFinish = { _ in reported.withLock { $0.append("session's") } }
        own.requestDidFinish = { _ in reported.withLock { $0.append("own") } }
        request.eventMonitor?.requestDidFinish(request)
        monitor.queue.sync {}
        own.queue.sync {}
        #expect(reported.withLock { $0.sorted() } == ["own", "session's"])
        #expect(session.request("http://mock/").eventMonitor != nil)
    }
}
