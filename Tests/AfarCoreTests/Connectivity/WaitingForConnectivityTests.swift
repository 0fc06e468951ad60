import AfarTesting
import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import AfarCore

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Requests that wait for connectivity.
@Suite struct WaitingForConnectivityTests {
    private let provider = ManualConnectivity(.offline)
    private let delegate = SessionDelegate()
    private let rootQueue = DispatchQueue(label: "root")

    private func session(
        _ transport: some Transport = MockTransport { _ in .text("ok") }, resourceTimeout: TimeInterval = 60,
        eventMonitors: [any EventMonitor] = [], withProvider: Bool = true
    ) -> Session {
        var configuration = SessionConfiguration()
        configuration.waitsForConnectivity = true
        configuration.timeoutIntervalForResource = resourceTimeout
        return Session(
            configuration: configuration, delegate: delegate, rootQueue: rootQueue, eventMonitors: eventMonitors,
            transport: transport, connectivity: withProvider ? provider : nil)
    }

    /// The session itself is a listener, too.
    private func isWaiting() async { await provider.hasListeners(2) }
    private func isNotWaiting() async { await provider.hasListeners(1) }

    // MARK: Waiting

    @Test(arguments: [Connectivity.Status.online, .unknown])
    func aRequestWaitsUntilThereIsANetwork(status: Connectivity.Status) async throws {
        let transport = MockTransport { _ in .text("ok") }
        let session = session(transport)
        let request = session.request("http://mock/")
        let task = request.serializingResponse(using: Bytes())
        await isWaiting()
        #expect(transport.requests.isEmpty)
        provider.set(status, identity: 1)
        #expect(await task.response.value == Data("ok".utf8))
        #expect(transport.requests.count == 1)
        #expect(request.retryCount == 0)
        // The wait counts toward the total timeout but not toward the idle timeout.
        let options = try #require(transport.requests.first?.exchange.options)
        #expect(options.totalTimeout < 60)
        #expect(options.idleTimeout == session.configuration.timeoutIntervalForRequest)
        await isNotWaiting()
    }

    @Test(arguments: [Connectivity.Status.online, .unknown])
    func requestsDoNotWaitIfTheNetworkIsAvailable(status: Connectivity.Status) async {
        provider.set(status)
        let session = session()
        #expect(await session.request("http://mock/").serializingResponse(using: Bytes()).response.error == nil)
        await provider.hasListeners(1)
        #expect(provider.listenersSoFar == 1)
    }

    @Test(arguments: ["localhost", "LocalHost:8080", "api.localhost", "127.0.0.1", "127.8.8.8:1", "[::1]", "[::1]:80"])
    func requestsToThisMachineDoNotWait(host: String) async {
        let session = session()
        let response = await session.request("http://\(host)/").serializingResponse(using: Bytes()).response
        #expect(response.value == Data("ok".utf8))
        #expect(!provider.connectivity.isOnline)
    }

    @Test(arguments: ["localhost.example.com", "127.example.com", "notlocalhost", "[::2]", "128.0.0.1", "10.127.0.1"])
    func requestsToOtherMachinesWait(host: String) async {
        let session = session(resourceTimeout: 0.01)
        let response = await session.request("http://\(host)/").serializingResponse(using: Bytes()).response
        #expect((response.error?.underlyingError as? URLError)?.code == .timedOut)
    }

    @Test func withoutAProviderNothingWaits() async {
        let session = session(withProvider: false)
        #expect(await session.request("http://mock/").serializingResponse(using: Bytes()).response.error == nil)
        #expect(provider.listenersSoFar == 0)
    }

    @Test func withoutTheSettingNothingWaits() async {
        let session = Session(transport: MockTransport { _ in .text("ok") }, connectivity: provider)
        #expect(await session.request("http://mock/").serializingResponse(using: Bytes()).response.error == nil)
    }

    @Test func anUnknownStatusDoesNotDelayRequests() async {
        provider.finish()
        let waits = Locked(0)
        delegate.taskIsWaitingForConnectivity = { _, _ in waits.withLock { $0 += 1 } }
        let session = session()
        #expect(await session.request("http://mock/").serializingResponse(using: Bytes()).response.error == nil)
        rootQueue.sync {}
        #expect(waits.withLock { $0 } == 0)
    }

    @Test func waitingIsDisabledByDefault() {
        #expect(!SessionConfiguration().waitsForConnectivity)
        #expect(!SessionConfiguration(URLSessionConfiguration.ephemeral).waitsForConnectivity)
    }

    #if canImport(Darwin)
        @Test func foundationsConfigurationEnablesWaiting() {
            let configuration = URLSessionConfiguration.ephemeral
            configuration.waitsForConnectivity = true
            #expect(SessionConfiguration(configuration).waitsForConnectivity)
        }
    #endif

    // MARK: Giving up

    @Test func cancellationEndsTheWait() async {
        let transport = MockTransport { _ in .text("ok") }
        let session = session(transport)
        let request = session.request("http://mock/")
        let task = request.serializingResponse(using: Bytes())
        await isWaiting()
        request.cancel()
        #expect(await task.response.error?.isExplicitlyCancelledError == true)
        await isNotWaiting()
        #expect(transport.requests.isEmpty)
        withExtendedLifetime(session) {}
    }

    @Test func theResourceTimeoutEndsTheWait() async throws {
        let transport = MockTransport { _ in .text("ok") }
        let session = session(transport, resourceTimeout: 0.05)
        let response = await session.request("http://mock/").serializingResponse(using: Bytes()).response
        #expect((response.error?.underlyingError as? URLError)?.code == .timedOut)
        let message = "\(try #require(response.error))"
        #expect(message.contains("no network was available within the total timeout of 0.05 s"))
        await isNotWaiting()
        #expect(transport.requests.isEmpty)
    }

    @Test func theResourceTimeoutIsNamedAsItWasSet() async throws {
        provider.set(.online)
        let transport = MockTransport { [provider] _ in
            provider.set(.offline)
            return .status(302, fields: [.location: "/next"])
        }
        let session = session(transport, resourceTimeout: 0.2)
        let response = await session.request("http://mock/").serializingResponse(using: Bytes()).response
        #expect("\(try #require(response.error))".contains("the total timeout of 0.2 s"))
    }

    @Test func releasingTheSessionEndsTheWait() async {
        var session: Session? = session()
        let task = session?.request("http://mock/").serializingResponse(using: Bytes())
        await isWaiting()
        session = nil
        #expect(await task?.response.error?.isSessionDeinitializedError == true)
        await provider.hasListeners(0)
    }

    // MARK: Waiting after a failure

    @Test(arguments: [TransportError.Code.notConnected, .cannotFindHost])
    func aRequestThatFailedWithoutANetworkWaitsToo(code: TransportError.Code) async {
        provider.set(.online)
        let transport = MockTransport { [provider] _ in
            guard provider.connectivity.identity == Connectivity.Identity(0) else { return .text("ok") }
            provider.set(.offline)
            return .failure(code)
        }
        let session = session(UnreachableTransport(base: transport))
        let request = session.request("http://mock/")
        let task = request.serializingResponse(using: Bytes())
        await isWaiting()
        provider.set(.online, identity: 1)
        let response = await task.response
        #expect(response.value == Data("ok".utf8))
        #expect(transport.requests.count == 2)
        #expect(request.retryCount == 0)
        #expect(response.metrics?.transactionMetrics.count == 2)
    }

    @Test func failuresWithANetworkAreNotRetried() async {
        provider.set(.online)
        let transport = MockTransport { _ in .failure(.notConnected) }
        let session = session(UnreachableTransport(base: transport))
        let response = await session.request("http://mock/").serializingResponse(using: Bytes()).response
        #expect((response.error?.underlyingError as? URLError)?.code == .notConnectedToInternet)
        #expect(transport.requests.count == 1)
    }

    @Test func aLateReportOfALossCausesAWait() async {
        provider.set(.online)
        let transport = MockTransport { [provider] _ in
            // The session's own listener is the first one.
            await provider.hasListeners(1)
            return provider.connectivity.identity == Connectivity.Identity(0) ? .failure(.notConnected) : .text("ok")
        }
        provider.whenListenerComes(2) { [provider] in provider.set(.offline, identity: 1) }
        let session = session(UnreachableTransport(base: transport))
        let task = session.request("http://mock/").serializingResponse(using: Bytes())
        await provider.hasListeners(2, soFar: 3)
        provider.set(.online, identity: 2)
        #expect(await task.response.value == Data("ok".utf8))
        #expect(transport.requests.count == 2)
    }

    /// The provider reports that there is no network, but sends a different status to its listeners.
    @Test(arguments: [Connectivity.Status.online, .unknown])
    func aContradictoryProviderCausesNoInfiniteLoop(status: Connectivity.Status) async throws {
        let transport = MockTransport { _ in .failure(.notConnected) }
        var configuration = SessionConfiguration()
        configuration.waitsForConnectivity = true
        let session = Session(
            configuration: configuration, transport: UnreachableTransport(base: transport),
            connectivity: ContradictoryConnectivity(reported: Connectivity(status, identity: 1)))
        let response = await session.request("http://mock/").serializingResponse(using: Bytes()).response
        #expect((response.error?.underlyingError as? URLError)?.code == .notConnectedToInternet)
        #expect(transport.requests.count == 1)
    }

    @Test func connectionsOfAnotherNetworkAreClosedBeforeWaitingRequestsAreSent() async throws {
        let events = Locked<[String]>([])
        let transport = NotingTransport(events: events)
        let stack = StagedTransport(
            transport,
            ConnectivityStage(waitingFor: provider, closeIdleConnections: transport.closeIdleConnections))
        let request = HTTPRequest(method: .get, scheme: "http", authority: "mock", path: "/")
        for identity in [1, 1, 2] {
            provider.set(.offline)
            async let response = stack.send(Exchange(request: request))
            await provider.hasListeners(1)
            provider.set(.online, identity: identity)
            _ = try await response
            await provider.hasListeners(0)
        }
        #expect(events.withLock { $0 } == ["sent", "sent", "closed", "sent"])
    }

    @Test(.timeLimit(.minutes(1))) func closingConnectionsCanSendARequest() async {
        let logged = Deferred<Data?>()
        let transport = ClosingTransport()
        let session = session(transport)
        transport.onClose.withLock {
            $0 = { [weak session] in
                session?.request("http://mock/log").response(queue: .global()) { logged.fulfill($0.data) }
            }
        }
        provider.set(.online, identity: 1)
        #expect(await session.request("http://mock/").serializingResponse(using: Bytes()).response.error == nil)
        await isNotWaiting()
        // With another identity, connections would close now, and the request to `/log` would wait, too.
        provider.set(.offline, identity: 1)
        let task = session.request("http://mock/").serializingResponse(using: Bytes())
        await isWaiting()
        provider.set(.online, identity: 2)
        #expect(await task.response.error == nil)
        #expect(await logged.value == Data("ok".utf8))
    }

    @Test(arguments: [TransportError.Code.connectionLost, .timedOut, .secureConnectionFailed])
    func otherFailuresDoNotWait(code: TransportError.Code) async {
        provider.set(.online)
        let transport = MockTransport { [provider] _ in
            provider.set(.offline)
            return .failure(code)
        }
        let session = session(UnreachableTransport(base: transport))
        let response = await session.request("http://mock/").serializingResponse(using: Bytes()).response
        #expect((response.error?.underlyingError as? URLError)?.code == code.urlErrorCode)
    }

    @Test func aFailureThatTimesOutIsTheCauseOfTheTimeout() async throws {
        provider.set(.online)
        let transport = MockTransport { [provider] _ in
            provider.set(.offline)
            return .failure(.notConnected)
        }
        let session = session(UnreachableTransport(base: transport), resourceTimeout: 0.1)
        let response = await session.request("http://mock/").serializingResponse(using: Bytes()).response
        let error = try #require(response.error?.underlyingError as? URLError)
        #expect(error.code == .timedOut)
        let cause = try #require(error.userInfo[NSUnderlyingErrorKey] as? TransportError)
        #expect((cause.underlying as? TransportError)?.code == .notConnected)
        #expect(response.metrics?.transactionMetrics.count == 1)
    }

    @Test func redirectsWaitForANetwork() async {
        provider.set(.online)
        let transport = MockTransport { [provider] request in
            guard request.path == "/" else { return .text("there") }
            provider.set(.offline)
            return .status(302, fields: [.location: "/next"])
        }
        let session = session(transport)
        let task = session.request("http://mock/").serializingResponse(using: Bytes())
        await isWaiting()
        #expect(transport.requests.map(\.path) == ["/"])
        provider.set(.online, identity: 1)
        #expect(await task.response.value == Data("there".utf8))
    }

    @Test func aOneShotBodyIsNotReadWhileWaiting() async {
        let transport = MockTransport { .data($0.body) }
        let session = session(transport)
        let task = session.upload(InputStream(data: Data("once".utf8)), to: "http://mock/")
            .serializingResponse(using: Bytes())
        await isWaiting()
        provider.set(.online, identity: 1)
        #expect(await task.response.value == Data("once".utf8))
    }

    // MARK: Notifications

    @Test func eachWaitIsReportedOnce() async {
        let events = Locked<[String]>([])
        let monitor = ClosureEventMonitor(queue: rootQueue)
        monitor.taskIsWaitingForConnectivity = { _, task in
            events.withLock { $0.append("monitor \(task.originalRequest?.url?.path ?? "-")") }
        }
        monitor.requestDidCreateTask = { _, _ in events.withLock { $0.append("created") } }
        delegate.taskIsWaitingForConnectivity = { [rootQueue] _, task in
            dispatchPrecondition(condition: .onQueue(rootQueue))
            events.withLock { $0.append("delegate \(task.originalRequest?.url?.path ?? "-")") }
        }
        let transport = MockTransport { [provider] request in
            guard request.path == "/first" else { return .text("there") }
            provider.set(.offline, identity: 2)
            return .status(302, fields: [.location: "/next"])
        }
        let session = session(transport, eventMonitors: [monitor])
        let task = session.request("http://mock/first").serializingResponse(using: Bytes())
        await isWaiting()
        provider.set(.online, identity: 1)
        await provider.hasListeners(2, soFar: 3)
        provider.set(.online, identity: 3)
        #expect(await task.response.error == nil)
        rootQueue.sync {}
        let reported = events.withLock { $0 }
        #expect(reported.filter { $0 == "monitor /first" }.count == 2)
        #expect(reported.filter { $0 == "delegate /first" }.count == 2)
        #expect(reported.count == 5)
        #expect(reported.first == "created")
    }

    @Test func waitingCreatesNoTaskWithoutObservers() async {
        let session = session()
        let request = session.request("http://mock/")
        let task = request.serializingResponse(using: Bytes())
        await isWaiting()
        #expect(request.mutable.withLock { $0.observers?.tasks.isEmpty != false })
        provider.set(.online)
        #expect(await task.response.error == nil)
    }
}

/// A transport that fails in the connecting phase, which mocks can't do.
private struct UnreachableTransport: Transport {
    let base: MockTransport

    var capabilities: TransportCapabilities { base.capabilities }

    func send(_ exchange: Exchange) async throws -> TransportResponse {
        do {
            return try await base.send(exchange)
        } catch var error as TransportError {
            error.phase = error.code == .cannotFindHost ? .resolving : .connecting
            throw error
        }
    }
}

/// A transport that records its calls.
private struct NotingTransport: Transport {
    let events: Locked<[String]>
    private let base = MockTransport { _ in .text("ok") }

    init(events: Locked<[String]>) { self.events = events }

    var capabilities: TransportCapabilities { base.capabilities }

    func send(_ exchange: Exchange) async throws -> TransportResponse {
        events.withLock { $0.append("sent") }
        return try await base.send(exchange)
    }

    func closeIdleConnections() { events.withLock { $0.append("closed") } }
}

/// A transport that calls a closure when its connections are closed.
private struct ClosingTransport: Transport {
    let onClose = Locked<(@Sendable () -> Void)?>(nil)
    private let base = MockTransport { _ in .text("ok") }

    var capabilities: TransportCapabilities { base.capabilities }

    func send(_ exchange: Exchange) async throws -> TransportResponse { try await base.send(exchange) }

    func closeIdleConnections() { onClose.withLock { $0 }?() }
}
