import AfarTesting
import Foundation
import HTTPTypes
import Testing

@testable import AfarCore

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A delegate's closures that observe or decide.
@Suite(.timeLimit(.minutes(1))) struct SessionDelegateTests {
    private let delegate = SessionDelegate()
    private let notes = Notes()
    /// Retains the sessions, because requests end when their session is deallocated.
    private let sessions = Locked<[Session]>([])

    private func session(_ handler: @escaping MockTransport.Handler = { _ in .text("four") }) -> Session {
        let session = Session(delegate: delegate, rootQueue: notes.rootQueue, transport: MockTransport(handler))
        sessions.withLock { $0.append(session) }
        return session
    }

    private var reported: [String] { notes.reported }

    @Test func aDelegateIsNotifiedOnTheRootQueue() async {
        delegate.taskDidSendBodyData = { [notes] _, _, sent, all, expected in
            notes.add("sent \(sent) \(all) \(expected)")
        }
        delegate.taskDidComplete = { [notes] _, task, error in
            notes.add("complete \(error == nil) \((task.response as? HTTPURLResponse)?.statusCode ?? 0)")
        }
        delegate.sessionDidBecomeInvalidWithError = { [notes] _, error in notes.add("invalid \(error == nil)") }
        var session: Session? = Session(
            delegate: delegate, rootQueue: notes.rootQueue, transport: MockTransport { _ in .text("four") })
        let response = await session?.upload(Data("12345".utf8), to: "http://mock/")
            .serializingResponse(using: Bytes()).response
        #expect(response?.value == Data("four".utf8))
        // The session removes a request from its list after the response.
        await session?.whenIdle()
        #expect(session?.state.running.isEmpty == true)
        session = nil
        #expect(reported == ["sent 5 5 5", "complete true 200", "invalid true"])
    }

    @Test func aDelegateIsRetainedUntilItsClosuresHaveBeenCalled() async {
        let queue = DispatchQueue(label: "root")
        let isReleased = Deferred<Bool>()
        queue.suspend()
        do {
            let delegate = SessionDelegate()
            delegate.sessionDidBecomeInvalidWithError = { [weak delegate] _, _ in isReleased.fulfill(delegate == nil) }
            _ = Session(delegate: delegate, rootQueue: queue, transport: MockTransport { _ in .text("") })
        }
        queue.resume()
        #expect(await isReleased.value == false)
    }

    @Test func aDelegateIsNotifiedOfDownloads() async throws {
        delegate.downloadTaskDidWriteData = { [notes] _, _, written, all, expected in
            notes.add("wrote \(written) \(all) \(expected)")
        }
        delegate.downloadTaskDidFinishDownloadingToURL = { [notes] _, _, url in
            notes.add("finished \((try? String(contentsOf: url, encoding: .utf8)) ?? "without a file")")
        }
        let place = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        let file = try await session().download("http://mock/", to: { _, _ in (place, []) })
            .serializingDownloadedFileURL().value
        #expect(reported == ["wrote 4 4 4", "finished four"])
        #expect(try String(contentsOf: file, encoding: .utf8) == "four")
        try FileManager.default.removeItem(at: place)
    }

    @Test func aTaskIsMappedToItsRequest() async {
        let request = session().request("http://mock/")
        _ = await request.serializingResponse(using: Bytes()).response
        #expect(request.task.flatMap { delegate[$0] } === request)
    }

    @Test func anInvalidatedSessionReportsItsReason() {
        delegate.sessionDidBecomeInvalidWithError = { [notes] _, error in
            notes.add("\((error as? CocoaError)?.code == .featureUnsupported)")
        }
        let session = session()
        session.invalidate(with: CocoaError(.featureUnsupported))
        session.invalidate()
        #expect(reported == ["true"])
    }

    @Test func theClosureReceivesBodiesInsteadOfTheRequests() async {
        delegate.dataTaskDidReceiveData = { [notes, unowned delegate] _, task, data in
            notes.add("\(String(decoding: data, as: UTF8.self)) \(delegate[task] is DataStreamRequest)")
        }
        let session = session()
        let request = session.request("http://mock/")
        let response = await request.response(withoutSerializer: ())
        #expect(response.data == nil)
        #expect(response.response?.statusCode == 200)
        let chunks = Locked(0)
        let stream = session.streamRequest("http://mock/")
        for await element in stream.streamTask().streamingData() where element.value != nil {
            chunks.withLock { $0 += 1 }
        }
        #expect(chunks.withLock { $0 } == 0)
        #expect(reported == ["four false", "four true"])
    }

    @Test func responsesCanBeAllowedOrCancelled() async {
        delegate.dataTaskDidReceiveResponse = { [notes] _, _, response in
            notes.add("\((response as? HTTPURLResponse)?.statusCode ?? 0)")
            return (response as? HTTPURLResponse)?.statusCode == 200 ? .allow : .cancel
        }
        let session = session { request in request.path == "/good" ? .text("good") : .text("bad", status: 404) }
        let good = await session.request("http://mock/good").serializingResponse(using: Bytes()).response
        #expect(good.value == Data("good".utf8))
        let bad = await session.request("http://mock/bad").serializingResponse(using: Bytes()).response
        #expect(bad.error?.isExplicitlyCancelledError == true)
        #expect(reported == ["200", "404"])
    }

    @Test func theClosureWithACompletionTakesPrecedence() async {
        delegate.dataTaskDidReceiveResponse = { [notes] _, _, _ in
            notes.add("never")
            return .cancel
        }
        delegate.dataTaskDidReceiveResponseWithCompletion = { [notes] _, _, _, completion in
            notes.add("asked")
            completion(.allow)
            completion(.cancel)
        }
        let response = await session().request("http://mock/").serializingResponse(using: Bytes()).response
        #expect(response.error == nil)
        #expect(reported == ["asked"])
    }

    @Test func cancellationEndsTheWaitForACompletion() async {
        let requested = Deferred<Void>()
        delegate.dataTaskDidReceiveResponseWithCompletion = { _, _, _, _ in requested.fulfill(()) }
        let request = session().request("http://mock/")
        let task = request.serializingResponse(using: Bytes())
        await requested.value
        request.cancel()
        #expect(await task.response.error?.isExplicitlyCancelledError == true)
    }

    @Test func redirectsCanBeDecided() async {
        delegate.taskWillPerformHTTPRedirection = { [notes] _, _, response, request in
            notes.add("\(response.statusCode) \(request.url?.path ?? "")")
            return request.url?.path == "/refused" ? nil : request
        }
        let session = session { request in
            switch request.path {
            case "/allowed": .status(302, fields: [.location: "/there"])
            case "/there": .text("there")
            default: .status(302, fields: [.location: "/refused"])
            }
        }
        let followed = await session.request("http://mock/allowed").serializingResponse(using: Bytes()).response
        #expect(followed.value == Data("there".utf8))
        let refused = await session.request("http://mock/").response(withoutSerializer: ())
        #expect(refused.response?.statusCode == 302)
        #expect(reported == ["302 /there", "302 /refused"])
    }
}

/// The calls to a delegate's closures. The closures capture this object instead of the test, which holds the delegate.
private final class Notes: Sendable {
    let rootQueue = DispatchQueue(label: "root")
    private let events = Locked<[String]>([])

    func add(_ event: String) {
        dispatchPrecondition(condition: .onQueue(rootQueue))
        events.withLock { $0.append(event) }
    }

    var reported: [String] {
        rootQueue.sync {}
        return events.withLock { $0 }
    }
}

extension DataRequest {
    /// Returns the response with its bytes unchanged.
    fileprivate func response(withoutSerializer: Void) async -> AFDataResponse<Data?> {
        let deferred = Deferred<AFDataResponse<Data?>>()
        response(queue: DispatchQueue(label: "handler")) { deferred.fulfill($0) }
        return await deferred.value
    }
}
