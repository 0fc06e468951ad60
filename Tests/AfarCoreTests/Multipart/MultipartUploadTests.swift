import AfarTesting
import Foundation
import HTTPTypes
import Testing

@testable import AfarCore

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Forms as request bodies: when they are encoded, whether in memory or in a file, and when the temporary file is
/// removed.
///
/// The tests inspect the open files of the process, so they run serially.
@Suite(.serialized, .timeLimit(.minutes(1))) struct MultipartUploadTests {
    private let content = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })

    private func form(_ more: (MultipartFormData) -> Void = { _ in }) -> MultipartFormData {
        let form = MultipartFormData(boundary: "b")
        more(form)
        form.append(content, withName: "a")
        return form
    }

    private func exists(_ url: URL?) -> Bool { url.map { FileManager.default.fileExists(atPath: $0.path) } ?? false }

    /// Returns the temporary files that forms are currently written to.
    private func formsBeingWritten() -> [URL] {
        openFiles().map(\.path).filter { $0.contains("afar-form-") && !$0.hasSuffix("(deleted)") }
            .map { URL(fileURLWithPath: $0) }
    }

    // MARK: Memory or file

    @Test func aFormUpToTheThresholdIsEncodedInMemory() async throws {
        let transport = MockTransport { _ in .text("ok") }
        let session = Session(transport: transport)
        let form = form()
        let expected = try form.encode()
        for (threshold, isInMemory) in [(UInt64(expected.count), true), (UInt64(expected.count) - 1, false)] {
            let request = session.upload(multipartFormData: form, to: "http://mock/", usingThreshold: threshold)
            #expect(request.uploadable == nil)
            #expect(try await request.serializingResponse(using: Bytes()).value == Data("ok".utf8))
            let sent = try #require(transport.requests.last)
            #expect(sent.body == expected)
            if case .data = sent.exchange.body { #expect(isInMemory) } else { #expect(!isInMemory) }
        }
        #expect(MultipartFormData.encodingMemoryThreshold == 10_000_000)
    }

    @Test func aLargerFormIsAPrivateFileUntilTheRequestEnds() async throws {
        let seen = Locked<[URL]>([])
        let session = Session(
            transport: MockTransport { request in
                guard case .file(let url) = request.exchange.body else { return .status(400) }
                seen.withLock { $0.append(url) }
                let permissions = try FileManager.default.attributesOfItem(atPath: url.path)[.posixPermissions]
                return .text("\(permissions as? Int ?? 0)")
            })
        let request = session.upload(multipartFormData: form(), to: "http://mock/", usingThreshold: 0)
        let text = try await request.serializingResponse(using: Bytes()).value
        #expect(String(decoding: text, as: UTF8.self) == "\(0o600)")
        #expect(seen.withLock { $0.count } == 1)
        #expect(!exists(seen.withLock { $0.first }))
    }

    @Test func everyAttemptSendsTheSameFile() async throws {
        let seen = Locked<[URL]>([])
        let transport = MockTransport { request in
            if case .file(let url) = request.exchange.body { seen.withLock { $0.append(url) } }
            return .status(500)
        }
        let session = Session(transport: transport)
        let retrier = Scripted(retrying: { request, answer in answer(request.retryCount < 2 ? .retry : .doNotRetry) })
        let stream = InputStream(data: content)
        let response = await session.upload(
            multipartFormData: { form in form.append(stream, withLength: 300_000, headers: [:]) }, to: "http://mock/",
            usingThreshold: 0, interceptor: retrier
        ).validate().serializingResponse(using: Bytes()).response
        #expect(response.error?.responseCode == 500)
        let urls = seen.withLock { $0 }
        #expect(urls.count == 3)
        #expect(Set(urls).count == 1)
        #expect(Set(transport.requests.map(\.body)).count == 1)
        #expect(transport.requests.first?.body.count ?? 0 > 300_000)
        #expect(!exists(urls.first))
    }

    @Test func onlyTheContentTypeReplacesTheCallersHeader() async throws {
        let transport = MockTransport { _ in .text("ok") }
        let session = Session(transport: transport)
        let form = form()
        var request = try URLRequest(
            url: "http://mock/", method: .put, headers: ["Content-Type": "text/plain", "X-A": "b"])
        request.timeoutInterval = 7
        _ = try await session.upload(multipartFormData: form, with: request).serializingResponse(using: Bytes()).value
        let sent = try #require(transport.requests.first)
        #expect(sent.fields[.contentType] == form.contentType)
        #expect(sent.fields[values: .contentType].count == 1)
        #expect(sent.exchange.request.headerFields.contains { $0.name.canonicalName == "x-a" && $0.value == "b" })
        #expect(sent.method == .put)
        #expect(sent.exchange.options.idleTimeout == 7)
    }

    @Test func theFormDeterminesItsContentType() async throws {
        let transport = MockTransport { _ in .text("ok") }
        let session = Session(transport: transport)
        let form = form()
        _ = try await session.upload(
            multipartFormData: form, to: "http://mock/",
            requestModifier: { $0.setValue("multipart/mixed; boundary=b", forHTTPHeaderField: "Content-Type") }
        ).serializingResponse(using: Bytes()).value
        #expect(transport.requests.first?.fields[.contentType] == form.contentType)
    }

    // MARK: Time of encoding

    @Test func theCallerDoesNotWaitForTheEncoding() async throws {
        let proceed = DispatchSemaphore(value: 0)
        let session = Session(transport: MockTransport { _ in .text("ok") })
        let slow = ScriptedStream { buffer, _ in
            proceed.wait()
            buffer.pointee = 0
            return 1
        }
        let request = session.upload(
            multipartFormData: form { $0.append(slow, withLength: 1, headers: [:]) }, to: "http://mock/")
        let task = request.serializingResponse(using: Bytes())
        request.resume()
        // If `resume()` waited for the encoding, it would never return.
        proceed.signal()
        #expect(try await task.value == Data("ok".utf8))
    }

    @Test func formsAreEncodedOnTheRequestQueue() async throws {
        let key = DispatchSpecificKey<Bool>()
        let queue = DispatchQueue(label: "making requests")
        queue.setSpecific(key: key, value: true)
        let wasThere = Locked<Bool?>(nil)
        let session = Session(requestQueue: queue, transport: MockTransport { _ in .text("ok") })
        let stream = ScriptedStream { buffer, _ in
            wasThere.withLock { $0 = DispatchQueue.getSpecific(key: key) }
            buffer.pointee = 0
            return 1
        }
        _ = try await session.upload(
            multipartFormData: form { $0.append(stream, withLength: 1, headers: [:]) }, to: "http://mock/"
        ).serializingResponse(using: Bytes()).value
        #expect(wasThere.withLock { $0 } == true)
    }

    @Test func anUnstartedUploadIsNotEncoded() async {
        let reads = Locked(0)
        let session = Session(startRequestsImmediately: false, transport: MockTransport { _ in .text("ok") })
        let stream = ScriptedStream { buffer, _ in
            reads.withLock { $0 += 1 }
            buffer.pointee = 0
            return 1
        }
        let form = form { $0.append(stream, withLength: 1, headers: [:]) }
        let idle = session.upload(multipartFormData: form, to: "http://mock/", usingThreshold: 0)
        #expect(idle.isInitialized)
        let cancelled = session.upload(multipartFormData: form, to: "http://mock/", usingThreshold: 0)
        cancelled.cancel()
        let error = await cancelled.serializingResponse(using: Bytes()).response.error
        #expect(error?.isExplicitlyCancelledError == true)
        #expect(reads.withLock { $0 } == 0)
    }

    @Test func encodingDoesNotBlockTheTaskThatFillsTheStream() async {
        let session = Session(transport: MockTransport { _ in .text("ok") })
        let fed = DispatchSemaphore(value: 0)
        let stream = {
            ScriptedStream { buffer, _ in
                fed.wait()
                buffer.pointee = 0
                return 1
            }
        }
        // More tasks than there are threads in the cooperative pool.
        let tasks = (0..<64).map { _ in
            session.upload(
                multipartFormData: { $0.append(stream(), withLength: 1, headers: [:]) }, to: "http://mock/"
            ).serializingResponse(using: Bytes())
        }
        await Task { for _ in tasks { fed.signal() } }.value
        for task in tasks { #expect(await task.response.value == Data("ok".utf8)) }
    }

    // MARK: Failures and cancellation

    @Test(arguments: [nil, DispatchQueue(label: "making requests")])
    func aFormThatCannotBeEncodedReachesTheHandlers(requestQueue: DispatchQueue?) async {
        let transport = MockTransport { _ in .text("ok") }
        let session = Session(requestQueue: requestQueue, transport: transport)
        let missing = URL(fileURLWithPath: "/no/such/file")
        for threshold: UInt64 in [0, .max] {
            let error = await session.upload(
                multipartFormData: { $0.append(missing, withName: "a") }, to: "http://mock/", usingThreshold: threshold
            ).serializingResponse(using: Bytes()).response.error
            guard case .multipartEncodingFailed(.bodyPartFileNotReachableWithError(missing, _)) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
        }
        #expect(transport.requests.isEmpty)
    }

    @Test(.enabled(if: FileManager.default.fileExists(atPath: "/proc/self/fd")))
    func aFailureDuringEncodingLeavesNoFile() async {
        let written = Locked<[URL]>([])
        let session = Session(transport: MockTransport { _ in .text("ok") })
        let stream = ScriptedStream { _, _ in
            written.withLock { $0 = formsBeingWritten() }
            return -1
        }
        let request = session.upload(
            multipartFormData: form { $0.append(stream, withLength: 5, headers: [:]) }, to: "http://mock/",
            usingThreshold: 0)
        let error = await request.serializingResponse(using: Bytes()).response.error
        #expect(error?.isMultipartEncodingError == true)
        #expect(error?.underlyingError is ScriptedStream.ReadError)
        #expect(written.withLock { $0.count } == 1)
        #expect(!exists(written.withLock { $0.first }))
    }

    @Test func headerInjectionInTheContentTypeIsRejected() async {
        let transport = MockTransport { _ in .text("ok") }
        let session = Session(transport: transport)
        let form = form()
        form.contentType += "\r\nX-Evil: 1"
        let error = await session.upload(multipartFormData: form, to: "http://mock/")
            .serializingResponse(using: Bytes()).response.error
        #expect(error?.invalidRequest != nil)
        #expect(transport.requests.isEmpty)
    }

    @Test func anInvalidURLLeavesNoFile() async {
        let session = Session(transport: MockTransport { _ in .text("ok") })
        let request = session.upload(multipartFormData: form(), to: "no URL", usingThreshold: 0)
        #expect(await request.serializingResponse(using: Bytes()).response.error?.isInvalidURLError == true)
        guard case .file(let url, shouldRemove: true) = request.uploadable else {
            Issue.record("\(String(describing: request.uploadable))")
            return
        }
        #expect(!exists(url))
    }

    @Test(
        .enabled(if: FileManager.default.fileExists(atPath: "/proc/self/fd")),
        arguments: [nil, DispatchQueue(label: "making requests")])
    func cancellationEndsTheEncodingAndLeavesNoFile(requestQueue: DispatchQueue?) async {
        let written = Locked<[URL]>([])
        let running = Locked<UploadRequest?>(nil)
        let transport = MockTransport { _ in .text("ok") }
        let session = Session(
            startRequestsImmediately: false, requestQueue: requestQueue, transport: transport)
        let endless = ScriptedStream { _, capacity in
            written.withLock { $0 = formsBeingWritten() }
            running.withLock { $0 }?.cancel()
            return capacity
        }
        let request = session.upload(
            multipartFormData: form { $0.append(endless, withLength: .max, headers: [:]) }, to: "http://mock/",
            usingThreshold: 0)
        running.withLock { $0 = request }
        let task = request.serializingResponse(using: Bytes())
        request.resume()
        #expect(await task.response.error?.isExplicitlyCancelledError == true)
        #expect(written.withLock { $0.count } == 1)
        #expect(!exists(written.withLock { $0.first }))
        #expect(transport.requests.isEmpty)
        running.withLock { $0 = nil }
    }

    enum Ending: CaseIterable { case cancel, release, invalidate }

    @Test(arguments: Ending.allCases)
    func endingDuringSendingLeavesNoFile(ending: Ending) async {
        let sent = Deferred<URL?>()
        var session: Session? = Session(
            transport: MockTransport { request in
                if case .file(let url) = request.exchange.body { sent.fulfill(url) } else { sent.fulfill(nil) }
                try await Task.sleep(for: .seconds(60))
                return .text("late")
            })
        let request = session?.upload(multipartFormData: form(), to: "http://mock/", usingThreshold: 0)
        let task = request?.serializingResponse(using: Bytes())
        let url = await sent.value
        #expect(exists(url))
        switch ending {
        case .cancel: request?.cancel()
        case .release: session = nil
        case .invalidate: session?.invalidate()
        }
        #expect(await task?.response.error != nil)
        #expect(!exists(url))
    }

    @Test func anEagerFormIsRemovedWithTheSession() async throws {
        let transport = MockTransport { _ in .text("ok") }
        let encoded = Deferred<Void>()
        let monitor = ClosureEventMonitor()
        monitor.requestDidCreateUploadable = { _, _ in encoded.fulfill(()) }
        var session: Session? = Session(
            startRequestsImmediately: false, requestSetup: .eager, eventMonitors: [monitor], transport: transport)
        let request = session?.upload(multipartFormData: form(), to: "http://mock/", usingThreshold: 0)
        await encoded.value
        guard case .file(let url, shouldRemove: true) = request?.uploadable else {
            Issue.record("\(String(describing: request?.uploadable))")
            return
        }
        #expect(exists(url))
        let task = request?.serializingResponse(using: Bytes())
        session = nil
        #expect(await task?.response.error?.isSessionDeinitializedError == true)
        #expect(!exists(url))
        #expect(transport.requests.isEmpty)
    }
}
