import AfarTesting
import Foundation
import Testing

@testable import AfarCore

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite struct OfflineRetrierTests {
    private let provider = ManualConnectivity(.offline)

    /// Creates a transport that succeeds only while there is a network.
    private func transport(_ code: TransportError.Code = .notConnected) -> MockTransport {
        MockTransport { [provider] _ in provider.connectivity.isOnline ? .text("ok") : .failure(code) }
    }

    private func retrier(_ maximumWait: DispatchTimeInterval = .never) -> OfflineRetrier {
        OfflineRetrier(monitor: provider, maximumWait: maximumWait)
    }

    private func code(of response: DataResponse<Data, AFError>) -> URLError.Code? {
        (response.error?.underlyingError as? URLError)?.code
    }

    // MARK: Waiting

    @Test func aThousandRequestsAreRetriedOnceWhenTheNetworkReturns() async {
        let transport = transport()
        let session = Session(interceptor: retrier(), transport: transport)
        let requests = (0..<1_000).map { session.request("http://mock/\($0)") }
        let tasks = requests.map { $0.serializingResponse(using: Bytes()) }
        await provider.hasListeners(1_000)
        #expect(transport.requests.count == 1_000)
        provider.set(.online, identity: 1)
        for task in tasks { #expect(await task.response.value == Data("ok".utf8)) }
        #expect(requests.allSatisfy { $0.retryCount == 1 })
        #expect(transport.requests.count == 2_000)
        await provider.hasListeners(0)
    }

    @Test func theSessionsProviderIsTheDefault() async {
        let session = Session(
            interceptor: .offlineRetrier(maximumWait: .never), transport: transport(), connectivity: provider)
        let task = session.request("http://mock/").serializingResponse(using: Bytes())
        // The session is a listener, too.
        await provider.hasListeners(2)
        provider.set(.unknown)
        #expect(await task.response.error == nil)
    }

    @Test func withoutAProviderNothingIsRetried() async {
        let transport = transport()
        let session = Session(interceptor: .offlineRetrier, transport: transport)
        let response = await session.request("http://mock/").serializingResponse(using: Bytes()).response
        #expect(code(of: response) == .notConnectedToInternet)
        #expect(transport.requests.count == 1)
    }

    @Test(arguments: ["POST", "PATCH"])
    func theMethodDoesNotMatter(method: String) async {
        let session = Session(interceptor: retrier(), transport: transport())
        let task = session.request("http://mock/", method: HTTPMethod(rawValue: method))
            .serializingResponse(using: Bytes())
        await provider.hasListeners(1)
        provider.set(.online)
        #expect(await task.response.error == nil)
    }

    @Test func laterRetriersAreCalledAfterTheWait() async {
        let requested = Locked(0)
        let last = Retrier { _, _, _, completion in
            requested.withLock { $0 += 1 }
            completion(.doNotRetry)
        }
        let session = Session(
            interceptor: .interceptor(retriers: [retrier(.milliseconds(1)), last]), transport: transport())
        let response = await session.request("http://mock/").serializingResponse(using: Bytes()).response
        #expect(code(of: response) == .notConnectedToInternet)
        #expect(requested.withLock { $0 } == 1)
    }

    // MARK: Giving up

    @Test func theErrorIsReportedAfterTheMaximumWait() async {
        let transport = transport()
        let session = Session(interceptor: retrier(.milliseconds(20)), transport: transport)
        let request = session.request("http://mock/")
        let response = await request.serializingResponse(using: Bytes()).response
        #expect(code(of: response) == .notConnectedToInternet)
        #expect(response.error?.isSessionTaskError == true)
        #expect(request.retryCount == 0)
        #expect(transport.requests.count == 1)
        await provider.hasListeners(0)
    }

    @Test func cancellationEndsTheWaitImmediately() async {
        let answers = Locked<[RetryResult]>([])
        let retrier = retrier()
        let counting = Retrier { request, session, error, completion in
            retrier.retry(request, for: session, dueTo: error) { answer in
                answers.withLock { $0.append(answer) }
                completion(answer)
            }
        }
        let session = Session(interceptor: counting, transport: transport())
        let request = session.request("http://mock/")
        let task = request.serializingResponse(using: Bytes())
        await provider.hasListeners(1)
        request.cancel()
        #expect(await task.response.error?.isExplicitlyCancelledError == true)
        await provider.hasListeners(0)
        provider.set(.online, identity: 1)
        await request.workIsOver()
        let given = answers.withLock { $0 }
        #expect(given.count == 1)
        guard case .doNotRetry = given.first else {
            Issue.record("\(given)")
            return
        }
    }

    @Test func releasingTheSessionEndsTheWait() async {
        weak var released: Session?
        var session: Session? = Session(interceptor: retrier(), transport: transport(), connectivity: provider)
        released = session
        let task = session?.request("http://mock/").serializingResponse(using: Bytes())
        await provider.hasListeners(2)
        session = nil
        #expect(await task?.response.error?.isSessionDeinitializedError == true)
        #expect(released == nil)
        await provider.hasListeners(0)
    }

    @Test(arguments: [DispatchTimeInterval.seconds(.max), .milliseconds(.max)])
    func aWaitCanExceedTheClocksRange(maximumWait: DispatchTimeInterval) async {
        let session = Session(interceptor: retrier(maximumWait), transport: transport())
        let task = session.request("http://mock/").serializingResponse(using: Bytes())
        await provider.hasListeners(1)
        provider.set(.online)
        #expect(await task.response.error == nil)
    }

    @Test func aFinishedProviderEndsTheWait() async {
        let session = Session(interceptor: retrier(), transport: transport())
        let task = session.request("http://mock/").serializingResponse(using: Bytes())
        await provider.hasListeners(1)
        provider.finish()
        #expect(code(of: await task.response) == .notConnectedToInternet)
    }

    // MARK: Apparent connectivity

    @Test(arguments: [(Connectivity.Status.online, DispatchTimeInterval.milliseconds(20)), (.unknown, .never)])
    func anAvailableNetworkIsRetriedOnce(
        status: Connectivity.Status, maximumWait: DispatchTimeInterval
    ) async {
        provider.set(status, identity: 1)
        let transport = MockTransport { _ in .failure(.notConnected) }
        let session = Session(interceptor: retrier(maximumWait), transport: transport)
        let response = await session.request("http://mock/").serializingResponse(using: Bytes()).response
        #expect(code(of: response) == .notConnectedToInternet)
        #expect(transport.requests.count == 2)
    }

    @Test(arguments: [Connectivity.Status.online, .unknown])
    func aContradictoryProviderCausesNoInfiniteLoop(status: Connectivity.Status) async {
        let transport = MockTransport { _ in .failure(.notConnected) }
        let provider = ContradictoryConnectivity(reported: Connectivity(status, identity: 1))
        let retrier = OfflineRetrier(monitor: provider, maximumWait: .milliseconds(50))
        let session = Session(interceptor: retrier, transport: transport)
        let response = await session.request("http://mock/").serializingResponse(using: Bytes()).response
        #expect(code(of: response) == .notConnectedToInternet)
        #expect(transport.requests.count == 2)
    }

    @Test(arguments: [TransportError.Code.notConnected, .cannotFindHost])
    func aLateReportOfALossCausesAWait(code: TransportError.Code) async {
        provider.set(.online, identity: 1)
        let transport = MockTransport { [provider] _ in
            provider.connectivity.identity == Connectivity.Identity(1) ? .failure(code) : .text("ok")
        }
        provider.whenListenerComes(1) { [provider] in provider.set(.offline, identity: 0) }
        let session = Session(interceptor: retrier(), transport: transport)
        let request = session.request("http://mock/")
        let task = request.serializingResponse(using: Bytes())
        await provider.hasListeners(1, soFar: 2)
        provider.set(.online, identity: 2)
        #expect(await task.response.error == nil)
        #expect(request.retryCount == 1)
    }

    @Test func eachOtherNetworkIsTriedOnce() async {
        provider.set(.online, identity: 1)
        let transport = MockTransport { [provider] _ in
            provider.connectivity.identity == Connectivity.Identity(9) ? .text("ok") : .failure(.notConnected)
        }
        let session = Session(interceptor: retrier(), transport: transport)
        let task = session.request("http://mock/").serializingResponse(using: Bytes())
        await provider.hasListeners(1, soFar: 2)
        #expect(transport.requests.count == 2)
        provider.set(.online, identity: 2)
        await provider.hasListeners(1, soFar: 3)
        #expect(transport.requests.count == 3)
        provider.set(.online, identity: 9)
        #expect(await task.response.error == nil)
        #expect(transport.requests.count == 4)
    }

    @Test func aNetworkThatReturnsIsRetried() async {
        provider.set(.online, identity: 1)
        let works = Locked(false)
        let transport = MockTransport { _ in works.withLock { $0 } ? .text("ok") : .failure(.notConnected) }
        let session = Session(interceptor: retrier(), transport: transport)
        let task = session.request("http://mock/").serializingResponse(using: Bytes())
        await provider.hasListeners(1, soFar: 2)
        works.withLock { $0 = true }
        provider.set(.offline, identity: 0)
        provider.set(.online, identity: 1)
        #expect(await task.response.error == nil)
        #expect(transport.requests.count == 3)
    }

    // MARK: Errors

    @Test func anUnresolvedNameWithoutANetworkIsRetried() async {
        let session = Session(interceptor: retrier(), transport: transport(.cannotFindHost))
        let task = session.request("http://mock/").serializingResponse(using: Bytes())
        await provider.hasListeners(1)
        provider.set(.online)
        #expect(await task.response.error == nil)
    }

    @Test func anUnresolvedNameWithANetworkIsNotRetried() async {
        provider.set(.online)
        let transport = MockTransport { _ in .failure(.cannotFindHost) }
        let session = Session(interceptor: retrier(), transport: transport)
        let response = await session.request("http://mock/").serializingResponse(using: Bytes()).response
        #expect(code(of: response) == .cannotFindHost)
        #expect(transport.requests.count == 1)
    }

    @Test(arguments: [TransportError.Code.timedOut, .cannotConnect, .connectionLost, .secureConnectionFailed])
    func otherErrorsAreNotRetried(code: TransportError.Code) async {
        let transport = MockTransport { _ in .failure(code) }
        let session = Session(interceptor: retrier(), transport: transport)
        let response = await session.request("http://mock/").serializingResponse(using: Bytes()).response
        #expect(self.code(of: response) == code.urlErrorCode)
        #expect(provider.listenersSoFar == 0)
    }

    @Test func theErrorsCanBeConfigured() async {
        let retrier = OfflineRetrier(monitor: provider, maximumWait: .never) { error in
            (error.asAFError?.underlyingError as? URLError)?.code == .timedOut
        }
        let session = Session(interceptor: retrier, transport: transport(.timedOut))
        let task = session.request("http://mock/").serializingResponse(using: Bytes())
        await provider.hasListeners(1)
        provider.set(.online)
        #expect(await task.response.error == nil)
    }

    @Test func underlyingErrorsAreConsidered() {
        let offline = URLError(.notConnectedToInternet)
        let isOffline = OfflineRetrier.defaultIsOfflineError
        #expect(isOffline(offline))
        #expect(isOffline(AFError.sessionTaskFailed(error: offline)))
        let original = AFError.sessionTaskFailed(error: offline)
        #expect(isOffline(AFError.requestAdaptationFailed(error: original)))
        #expect(!isOffline(URLError(.timedOut)))
        #expect(!isOffline(AFError.explicitlyCancelled))
        #expect(!isOffline(CocoaError(.fileNoSuchFile)))
    }

    @Test func defaultValues() {
        #expect(OfflineRetrier.defaultWait == .seconds(5))
        #expect(OfflineRetrier().maximumWait == .seconds(5))
        #expect(OfflineRetrier.defaultURLErrorOfflineCodes == [.notConnectedToInternet])
    }

    @Test func aConsumedStreamIsNotRetried() async {
        let transport = MockTransport { _ in .failure(.notConnected) }
        let session = Session(interceptor: retrier(), transport: transport)
        let body = InputStream(data: Data("once".utf8))
        let response = await session.upload(body, to: "http://mock/").serializingResponse(using: Bytes()).response
        #expect(code(of: response) == .notConnectedToInternet)
        #expect(transport.requests.count == 1)
        #expect(provider.listenersSoFar == 0)
    }

    // MARK: Interfaces

    /// Performs a request whose first attempt fails, so that the retrier is called.
    private func response(
        with retrier: OfflineRetrier, over types: Set<Connectivity.InterfaceType>
    ) async -> DataResponse<Data, AFError> {
        provider.set(.online, interfaceTypes: types)
        let attempts = Locked(0)
        let transport = MockTransport { _ in
            let number = attempts.withLock { count in
                count += 1
                return count
            }
            return number == 1 ? .failure(.notConnected) : .text("ok")
        }
        let session = Session(interceptor: retrier, transport: transport, connectivity: provider)
        return await session.request("http://mock/").serializingResponse(using: Bytes()).response
    }

    private typealias Types = Set<Connectivity.InterfaceType>

    @Test(arguments: [
        ([.wifi] as Types, true), ([.wifi, .cellular] as Types, true), ([] as Types, true),
        ([.wiredEthernet] as Types, false),
    ])
    func anInterfaceTypeCanBeRequired(types: Set<Connectivity.InterfaceType>, isEnough: Bool) async {
        let retrier: OfflineRetrier = .offlineRetrier(requiredInterfaceType: .wifi, maximumWait: .milliseconds(20))
        #expect((await response(with: retrier, over: types).error == nil) == isEnough)
    }

    @Test(arguments: [
        ([.wifi] as Types, true), ([.wifi, .cellular] as Types, true), ([] as Types, true),
        ([.cellular] as Types, false), ([.cellular, .other] as Types, false),
    ])
    func interfaceTypesCanBeProhibited(types: Set<Connectivity.InterfaceType>, isEnough: Bool) async {
        let retrier: OfflineRetrier = .offlineRetrier(
            prohibitedInterfaceTypes: [.cellular, .other], maximumWait: .milliseconds(20))
        #expect((await response(with: retrier, over: types).error == nil) == isEnough)
    }

    @Test func aRequiredTypeIsAwaited() async {
        provider.set(.online, interfaceTypes: [.cellular])
        let transport = MockTransport { [provider] _ in
            provider.connectivity.interfaceTypes.contains(.wifi) ? .text("ok") : .failure(.notConnected)
        }
        let session = Session(
            interceptor: .offlineRetrier(requiredInterfaceType: .wifi, maximumWait: .never), transport: transport,
            connectivity: provider)
        let task = session.request("http://mock/").serializingResponse(using: Bytes())
        await provider.hasListeners(2)
        provider.set(.online, interfaceTypes: [.wifi], identity: 1)
        #expect(await task.response.error == nil)
    }
}

extension Request {
    /// Returns when the tasks of adapters and retriers have finished.
    fileprivate func workIsOver() async {
        for task in mutable.withLock({ $0.attempt.work }) { await task.value }
    }
}
