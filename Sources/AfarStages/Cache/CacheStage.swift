import Foundation
import HTTPTypes

/// A stage that answers requests from a cache, and stores responses from the network (RFC 9111).
package struct CacheStage: ExchangeStage {
    private let store: any CacheStore
    private var revalidation: CacheRevalidation?
    private let invalidations = CacheInvalidations()
    private let fetches: CoalescedFetches?
    private let sensitiveHeaders: SensitiveHeaders
    private let security: (any ConnectionSecurityProvider)?

    /// The maximum size in bytes of a stored body: 16 MiB.
    static let longestBody = 16 * 1024 * 1024

    /// - Parameters:
    ///   - revalidation: Revalidates stale responses in the background. If nil, stale responses are validated before use.
    ///   - coalesces: Whether a request waits for the response to an identical request that is in progress.
    ///   - sensitiveHeaders: The names of headers that contain credentials, in addition to those with well-known names.
    ///   - security: Provides the client's identity for each host. A response for one identity isn't used for another.
    package init(
        _ store: any CacheStore, revalidation: CacheRevalidation?, coalesces: Bool = false,
        sensitiveHeaders: Set<String> = [], security: (any ConnectionSecurityProvider)? = nil
    ) {
        self.store = store
        self.revalidation = revalidation
        fetches = coalesces ? CoalescedFetches() : nil
        self.sensitiveHeaders = SensitiveHeaders(sensitiveHeaders)
        self.security = security
    }

    package func begin(_ hop: Hop) -> (any StageRun)? {
        if case .connection = hop.exchange.delivery { return nil }
        guard hop.exchange.request.headerFields[.upgrade] == nil else { return nil }
        // With these settings, a different server can answer for the same URL.
        let network = hop.exchange.options.networkBox?.settings
        guard network?.unixSocket == nil, network?.connectTo.isEmpty != false else { return nil }
        return Run(hop, self)
    }

    /// A copy of this stage that never starts a background revalidation.
    private var forRevalidation: CacheStage {
        var stage = self
        stage.revalidation = nil
        return stage
    }

    private final class Run: StageRun {
        private struct State {
            /// The matching stored response, if any.
            var storedResponse: CachedResponse?
            /// Whether the store can contain older responses to the URL.
            var canHaveOlderResponses = true
            /// Whether the request validates the stored response.
            var isValidating = false
            /// Whether validation failed, so that the request must be sent without conditions.
            var mustSend = false
            var requestDate = Date.distantPast
            var arrival: (head: ResponseHead, date: Date)?
            /// The head that the stage delivered after a successful validation.
            var deliveredHead: ResponseHead?
            /// Whether identical requests wait for this one.
            var isFetching = false
        }

        private let request: CacheRequest
        private let policy: CachePolicy
        private let handler: CacheHandler?
        private let stage: CacheStage
        private let state = InlineLocked(State())

        private var store: any CacheStore { stage.store }

        init(_ hop: Hop, _ stage: CacheStage) {
            request = CacheRequest(
                hop.exchange, sensitiveHeaders: stage.sensitiveHeaders, client: stage.security?.clientIdentity(for: hop)
            )
            let policies = hop.exchange.policies
            (policy, handler) = (policies.cache, policies.cacheHandler)
            self.stage = stage
        }

        func before(_ hop: Hop) -> Reply<RequestAction> {
            let mustSend = state.withLock { state in
                (state.requestDate, state.isValidating, state.arrival, state.storedResponse) = (
                    hop.now, false, nil, nil
                )
                state.canHaveOlderResponses = true
                return state.mustSend
            }
            guard !mustSend, policy != .reload else { return .now(.send) }
            guard CacheRules.canUse(request) else { return .now(policy == .cacheOnly ? notCached(hop) : .send) }
            if let fetches = stage.fetches, policy == .standard, request.method == .get {
                return .wait { [self] in await action(of: hop, joining: fetches) }
            }
            guard store.isSlow else { return .now(action(of: hop)) }
            return .wait { [self] in action(of: hop) }
        }

        /// The maximum time to wait for another request. A limit is necessary because that request can be suspended. The limit
        /// is the idle timeout, or the time left for this request if that time is shorter.
        private func longestWait(of hop: Hop) -> Duration {
            min(hop.timeLeft, Duration(timeout: hop.exchange.options.idleTimeout))
        }

        /// Waits while an identical request is in progress. Sends the request only if no such request remains.
        private func action(of hop: Hop, joining fetches: CoalescedFetches) async -> RequestAction {
            while true {
                let action = action(of: hop)
                switch action {
                case .answer, .fail: return action
                case .send, .change: break
                }
                switch await fetches.join(request.identity, for: longestWait(of: hop)) {
                case nil:
                    state.withLock { $0.isFetching = true }
                    return action
                case .cancelled: continue
                // Sends this request if the other request's response wasn't stored.
                case .answered: return self.action(of: hop)
                case .failed, .abandoned: return action
                }
            }
        }

        private func action(of hop: Hop) -> RequestAction {
            let now = hop.now
            let limit = hop.exchange.delivery.limit ?? .max
            let known = store.responses(for: request.url)
            if known.isEmpty { state.withLock { $0.canHaveOlderResponses = false } }
            let responses = known.filter { Int64($0.body.count) <= limit }
            switch CacheRules.decide(request, policy, among: responses, at: now) {
            case .use(let response): return .answer(stored(response, for: hop, at: now))
            case .useAndRevalidate(let response):
                guard let revalidation = stage.revalidation else { return validation(of: response, hop) }
                revalidation.start(request.identity, hop, stage.forRevalidation)
                return .answer(stored(response, for: hop, at: now))
            case .validate(let response): return validation(of: response, hop)
            case .send:
                state.withLock { $0.storedResponse = responses.first { CacheRules.matches(request, $0) } }
                return .send
            case .unavailable where policy == .cacheOnly: return notCached(hop)
            case .unavailable:
                let head = ResponseHead(
                    status: 504, fields: HTTPFields(), url: hop.exchange.responseURL, isStored: true)
                return .answer(TransportResponse(head: head, body: .data(Data())))
            }
        }

        private func notCached(_ hop: Hop) -> RequestAction {
            .fail(hop.failure(.notCached, "the cache has no response, and the request does not permit network access"))
        }

        private func validation(of response: CachedResponse, _ hop: Hop) -> RequestAction {
            state.withLock { ($0.storedResponse, $0.isValidating) = (response, true) }
            var exchange = hop.exchange
            for field in CacheRules.conditions(for: response) { exchange.request.headerFields.append(field) }
            return .change(exchange)
        }

        func head(_ head: ResponseHead, of hop: Hop) -> Reply<ResponseAction> {
            let now = hop.now
            // Ignore a head from a cache, and the head that this stage itself delivered.
            let known = state.withLock { state -> (CachedResponse?, isValidating: Bool, requestDate: Date)? in
                guard !head.isStored, head !== state.deliveredHead else { return nil }
                state.arrival = (head, now)
                return (state.storedResponse, state.isValidating, state.requestDate)
            }
            guard let (storedResponse, isValidating, requestDate) = known else { return .now(.pass) }
            for url in CacheRules.invalidated(by: head, to: request) {
                stage.invalidations.note(url, at: now)
                store.removeResponses(for: url)
            }
            guard let storedResponse else { return .now(.pass) }
            if isValidating, head.status == 304 {
                let updated = CacheRules.updated(storedResponse, by: head, requestDate: requestDate, responseDate: now)
                guard let updated else { return .now(sendAgain(hop)) }
                if CacheRules.canStoreUpdated(updated, for: request) {
                    // Don't store an update that was requested before another request changed the resource.
                    if !stage.invalidations.containsOne(of: request.url, since: requestDate) {
                        store.update(updated, inPlaceOf: storedResponse)
                    }
                } else {
                    store.removeResponses(for: request.url)
                }
                let response = stored(updated, for: hop, at: now)
                state.withLock { $0.deliveredHead = response.head }
                return .now(.replace(response))
            }
            if CacheRules.errorStatuses.contains(head.status), canServeOnError(storedResponse, at: now) {
                return .now(.replace(stored(storedResponse, for: hop, at: now)))
            }
            if request.method == .head, head.status == 200, !CacheRules.agrees(head, with: storedResponse) {
                store.removeResponses(for: request.url)
            }
            return .now(.pass)
        }

        /// Repeats the request without conditions, because the server's 304 refers to a response that isn't stored.
        private func sendAgain(_ hop: Hop) -> ResponseAction {
            store.removeResponses(for: request.url)
            state.withLock { $0.mustSend = true }
            return .follow(hop.exchange, .validation)
        }

        func failed(_ error: any Error, of hop: Hop) -> Reply<FailureAction> {
            let now = hop.now
            guard let error = error as? TransportError, error.code.meansUnreachable,
                let (storedResponse, arrival) = state.withLock({ state in
                    state.storedResponse.map { ($0, state.arrival) }
                }),
                arrival == nil, canServeOnError(storedResponse, at: now)
            else { return .now(.fail(error)) }
            return .now(.answer(stored(storedResponse, for: hop, at: now)))
        }

        private func canServeOnError(_ response: CachedResponse, at now: Date) -> Bool {
            CacheRules.canUse(request) && CacheRules.canServeOnError(response, to: request.control, at: now)
        }

        func ended(_ hop: Hop, with result: Result<TransportResponse, any Error>?) {
            storeArrival(of: hop, result)
            let wasFetching = state.withLock { state in
                defer { state.isFetching = false }
                return state.isFetching
            }
            guard wasFetching else { return }
            stage.fetches?.end(request.identity, with: Self.outcome(of: result))
        }

        private static func outcome(of result: Result<TransportResponse, any Error>?) -> CoalescedFetches.Outcome {
            guard case .failure(let error) = result else { return .answered }
            return (error as? TransportError)?.code == .cancelled ? .cancelled : .failed
        }

        private func storeArrival(of hop: Hop, _ result: Result<TransportResponse, any Error>?) {
            let (arrival, requestDate) = state.withLock { ($0.arrival, $0.requestDate) }
            guard request.method == .get, let (head, date) = arrival else { return }
            guard let result else {
                // Another request follows, for example after a redirect.
                if head.status != 304 { removeResponses(olderThan: head) }
                return
            }
            guard case .success(let response) = result, response.head === head else { return }
            // Don't copy a body that can't be stored.
            let isStorable =
                (head.contentLength ?? 0) <= Int64(CacheStage.longestBody)
                && CacheRules.storable(head, Data(), to: request, requestDate: requestDate, responseDate: date) != nil
            guard isStorable else { return removeResponses(olderThan: head) }
            let receive: @Sendable (Data) -> Void = { [self] in storeIfAllowed(head, $0, requestDate, date) }
            switch response.body {
            case .data(let data) where data.count <= CacheStage.longestBody: receive(data)
            case .data, .connection: removeResponses(olderThan: head)
            case .stream(let stream):
                // Remove older responses now. This is necessary because no new response replaces them if the body turns out to be
                // incomplete.
                removeResponses(olderThan: head)
                stream.copy(upTo: CacheStage.longestBody, to: receive)
            case .file(let count):
                guard count <= CacheStage.longestBody, let descriptor = hop.exchange.delivery.descriptor,
                    let data = Data(lastBytes: Int(count), of: descriptor)
                else { return removeResponses(olderThan: head) }
                receive(data)
            }
        }

        private func storeIfAllowed(_ head: ResponseHead, _ body: Data, _ requestDate: Date, _ responseDate: Date) {
            let expectedCount =
                head.values(for: .contentEncoding).isEmpty ? head.contentLength ?? Int64(body.count) : nil
            guard expectedCount == nil || expectedCount == Int64(body.count) else { return }
            let response = CacheRules.storable(
                head, body, to: request, requestDate: requestDate, responseDate: responseDate)
            guard let response else { return }
            switch handler?(response) ?? .now(response) {
            case .now(let response): store(response, from: head, requestDate)
            case .wait(let work): Task { [self] in store(await work(), from: head, requestDate) }
            }
        }

        private func store(_ response: CachedResponse?, from head: ResponseHead, _ requestDate: Date) {
            guard let response else { return removeResponses(olderThan: head) }
            guard !stage.invalidations.containsOne(of: request.url, since: requestDate) else { return }
            store.store(response)
        }

        /// Removes the older stored responses when a response isn't stored. An error status other than 404 or 410 removes nothing.
        private func removeResponses(olderThan head: ResponseHead) {
            guard head.status < 400 || [404, 410].contains(head.status) else { return }
            if state.withLock({ $0.canHaveOlderResponses }) { store.removeResponses(for: request.url) }
        }

        /// Creates a response from a stored one, with its current age (section 5.1).
        private func stored(_ response: CachedResponse, for hop: Hop, at now: Date) -> TransportResponse {
            var fields = response.fields
            // Larger ages are sent as 2³¹ (section 1.2.2).
            fields[.age] = String(Int(min(response.terms.age(at: now), 2_147_483_648)))
            let head = ResponseHead(
                status: response.status, fields: fields, url: hop.exchange.responseURL, isStored: true)
            var metrics = TransactionMetrics()
            metrics.isFromCache = true
            metrics.fetchStartDate = state.withLock { $0.requestDate }
            metrics.responseEndDate = now
            let body = request.method == .head ? Data() : response.body
            metrics.countOfResponseBodyBytesAfterDecoding = Int64(body.count)
            return TransportResponse(head: head, body: .data(body), report: TransportReport(transactions: [metrics]))
        }
    }
}

extension TransportError.Code {
    /// Whether the server couldn't be reached. Stale responses must not hide other errors, such as an invalid certificate or an
    /// invalid request.
    fileprivate var meansUnreachable: Bool {
        [.cannotFindHost, .cannotConnect, .notConnected, .connectionLost, .proxyFailed, .timedOut].contains(self)
    }
}

// MARK: - Coalesced requests

/// A cache's requests in progress. An identical request isn't sent. Instead, it waits for the response to the first request.
final class CoalescedFetches: Sendable {
    /// The outcome of a fetch, as reported to the requests that waited for it.
    enum Outcome: Sendable {
        /// A response arrived. The store contains it if it could be stored.
        case answered
        /// The request was canceled. One of the waiting requests must be sent.
        case cancelled
        case failed
        /// The waiting request reached its time limit or was canceled.
        case abandoned
    }

    private let waiters = Locked<[String: [Deferred<Outcome>]]>([:])

    /// Returns nil to the first caller for a key. That caller must call ``end(_:with:)``. Other callers wait for the outcome of the
    /// first caller's fetch.
    func join(_ key: String, for limit: Duration) async -> Outcome? {
        let outcome = Deferred<Outcome>()
        let mustWait = waiters.withLock { waiters in
            guard waiters[key] != nil else {
                waiters[key] = []
                return false
            }
            waiters[key]?.append(outcome)
            return true
        }
        guard mustWait else { return nil }
        let timer = outcome.fulfill(.abandoned, after: limit)
        defer { timer.cancel() }
        return await outcome.value(ifCancelled: .abandoned)
    }

    func end(_ key: String, with outcome: Outcome) {
        let ended = waiters.withLock { $0.removeValue(forKey: key) } ?? []
        for waiter in ended { waiter.fulfill(outcome) }
    }
}

// MARK: - Background revalidation

/// Revalidates stored responses in the background, after they were used for requests.
package final class CacheRevalidation: Sendable {
    private let stages: [any ExchangeStage]
    private let sender: ExchangeSender
    /// The identities of the requests that are in progress.
    private let running = Locked<Set<String>>([])

    /// - Parameter stages: The stages between the cache and the transport.
    package init(through stages: [any ExchangeStage], over sender: ExchangeSender) {
        self.stages = stages
        self.sender = sender
    }

    /// Repeats the request of a hop, unless an identical request is in progress.
    func start(_ identity: String, _ hop: Hop, _ cache: CacheStage) {
        guard running.withLock({ $0.insert(identity).inserted }) else { return }
        var exchange = Exchange(
            request: hop.exchange.request, delivery: .collect(limit: Int64(CacheStage.longestBody)),
            options: hop.exchange.options)
        exchange.context = hop.exchange.context
        exchange.policies.cache = .revalidate
        let stages: [any ExchangeStage] = [cache] + stages
        let driver = HopDriver(Hop(exchange, hasLeftOrigin: hop.hasLeftOrigin), through: stages, over: sender) { _ in
            (.take(), handlerWork: nil)
        }
        Task(executorPreference: QueueExecutor.global) { [self] in
            await withTaskGroup(of: Void.self) { tasks in
                _ = try? await driver.response { work in tasks.addTask(operation: work) }
                running.withLock { _ = $0.remove(identity) }
                tasks.cancelAll()
            }
        }
    }
}

// MARK: - Invalidations

/// The dates when stored responses became invalid, by URL. If a request was sent before that date, its response can be outdated and
/// isn't stored.
final class CacheInvalidations: Sendable {
    /// The maximum number of URLs. Older entries are removed.
    private static let limit = 1000

    private let dates = Locked(LeastRecentlyUsed<Date>())

    func note(_ url: String, at date: Date) {
        dates.withLock { dates in
            _ = dates.set(date, cost: 1, for: url)
            if dates.count > Self.limit { _ = dates.removeLeast() }
        }
    }

    func containsOne(of url: String, since requestDate: Date) -> Bool {
        dates.withLock { dates in dates.count > 0 && dates.value(for: url).map { $0 >= requestDate } ?? false }
    }
}
