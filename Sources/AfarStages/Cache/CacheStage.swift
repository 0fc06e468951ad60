import Foundation
import HTTPTypes

/// Answers requests from a cache, and keeps what comes over the network (RFC 9111).
package struct CacheStage: ExchangeStage {
    private let store: any CacheStore
    private var revalidation: CacheRevalidation?
    private let invalidations = CacheInvalidations()
    private let fetches: CoalescedFetches?
    private let sensitiveHeaders: SensitiveHeaders
    private let security: (any ConnectionSecurityProvider)?

    /// The most bytes of a body that are kept.
    static let longestBody = 16 * 1024 * 1024

    /// - Parameters:
    ///   - revalidation: How the server is asked beside a request; nil to answer with nothing stale.
    ///   - coalesces: Whether requests wait for what others like them fetch.
    ///   - sensitiveHeaders: The names of headers that are credentials, besides those that their names show to be.
    ///   - security: Who the client is to each host: a response to one client isn't used for another.
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
        // Nothing stored stands for a connection.
        if case .connection = hop.exchange.delivery { return nil }
        guard hop.exchange.request.headerFields[.upgrade] == nil else { return nil }
        // Behind the same URL is another server, perhaps.
        let network = hop.exchange.options.networkBox?.settings
        guard network?.unixSocket == nil, network?.connectTo.isEmpty != false else { return nil }
        return Run(hop, self)
    }

    /// The same cache, to ask the server.
    private var forRevalidation: CacheStage {
        var stage = self
        stage.revalidation = nil
        return stage
    }

    private final class Run: StageRun {
        private struct State {
            /// What the cache has; nil when that is not of use.
            var kept: CachedResponse?
            /// Whether the cache may have older responses to the URL.
            var mayHaveOlder = true
            /// Whether the server is asked if that still holds.
            var isValidating = false
            /// Whether the cache has been of no use before.
            var mustSend = false
            var requestDate = Date.distantPast
            /// What has come over the network.
            var arrival: (head: ResponseHead, date: Date)?
            /// The answer to a validation, which has come partly over the network.
            var given: ResponseHead?
            /// Whether other requests wait for what this one fetches.
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
                (state.requestDate, state.isValidating, state.arrival, state.kept) = (Date(), false, nil, nil)
                state.mayHaveOlder = true
                return state.mustSend
            }
            guard !mustSend, policy != .reload else { return .now(.send) }
            guard CacheRules.mayUse(request) else { return .now(policy == .cacheOnly ? notCached(hop) : .send) }
            if let fetches = stage.fetches, policy == .standard, request.method == .get {
                return .wait { [self] in await action(of: hop, joining: fetches) }
            }
            guard store.isSlow else { return .now(action(of: hop)) }
            return .wait { [self] in action(of: hop) }
        }

        /// How long a request waits for another at most, which may be suspended: as long as it would for a server's next byte.
        private func longestWait(of hop: Hop) -> Duration {
            min(hop.timeLeft, Duration(timeout: hop.exchange.options.idleTimeout))
        }

        /// Asks the server only if no request like this one does so already.
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
                // What could not be kept is each one's own.
                case .answered: return self.action(of: hop)
                case .failed, .abandoned: return action
                }
            }
        }

        private func action(of hop: Hop) -> RequestAction {
            let now = Date()
            let limit = hop.exchange.delivery.limit ?? .max
            let known = store.responses(for: request.url)
            if known.isEmpty { state.withLock { $0.mayHaveOlder = false } }
            let responses = known.filter { Int64($0.body.count) <= limit }
            switch CacheRules.decide(request, policy, among: responses, at: now) {
            case .use(let response): return .answer(stored(response, for: hop, at: now))
            case .useAndRevalidate(let response):
                guard let revalidation = stage.revalidation else { return validation(of: response, hop) }
                revalidation.start(request.identity, hop, stage.forRevalidation)
                return .answer(stored(response, for: hop, at: now))
            case .validate(let response): return validation(of: response, hop)
            case .send:
                state.withLock { $0.kept = responses.first { CacheRules.matches(request, $0) } }
                return .send
            case .unavailable where policy == .cacheOnly: return notCached(hop)
            case .unavailable:
                let head = ResponseHead(
                    status: 504, fields: HTTPFields(), url: hop.exchange.responseURL, isStored: true)
                return .answer(TransportResponse(head: head, body: .data(Data())))
            }
        }

        private func notCached(_ hop: Hop) -> RequestAction {
            .fail(hop.failure(.notCached, "the cache has no response, and nothing else is wanted"))
        }

        private func validation(of response: CachedResponse, _ hop: Hop) -> RequestAction {
            state.withLock { ($0.kept, $0.isValidating) = (response, true) }
            var exchange = hop.exchange
            for field in CacheRules.conditions(for: response) { exchange.request.headerFields.append(field) }
            return .change(exchange)
        }

        func head(_ head: ResponseHead, of hop: Hop) -> Reply<ResponseAction> {
            let now = Date()
            // It may be asked about a head more than once, and about what it has given itself.
            let known = state.withLock { state -> (CachedResponse?, isValidating: Bool, requestDate: Date)? in
                guard !head.isStored, head !== state.given else { return nil }
                state.arrival = (head, now)
                return (state.kept, state.isValidating, state.requestDate)
            }
            guard let (kept, isValidating, requestDate) = known else { return .now(.pass) }
            for url in CacheRules.invalidated(by: head, to: request) {
                stage.invalidations.note(url, at: now)
                store.removeResponses(for: url)
            }
            guard let kept else { return .now(.pass) }
            if isValidating, head.status == 304 {
                let updated = CacheRules.updated(kept, by: head, requestDate: requestDate, responseDate: now)
                guard let updated else { return .now(sendAgain(hop)) }
                if CacheRules.mayKeep(updated, for: request) {
                    // What the resource was before a request has changed it is not brought back.
                    if !stage.invalidations.containsOne(of: request.url, since: requestDate) {
                        store.update(updated, inPlaceOf: kept)
                    }
                } else {
                    store.removeResponses(for: request.url)
                }
                let response = stored(updated, for: hop, at: now)
                state.withLock { $0.given = response.head }
                return .now(.replace(response))
            }
            if CacheRules.errorStatuses.contains(head.status), mayServeOnError(kept, at: now) {
                return .now(.replace(stored(kept, for: hop, at: now)))
            }
            if request.method == .head, head.status == 200, !CacheRules.agrees(head, with: kept) {
                store.removeResponses(for: request.url)
            }
            return .now(.pass)
        }

        /// The server says that another response holds than the one that is kept.
        private func sendAgain(_ hop: Hop) -> ResponseAction {
            store.removeResponses(for: request.url)
            state.withLock { $0.mustSend = true }
            return .follow(hop.exchange, .validation)
        }

        func failed(_ error: any Error, of hop: Hop) -> Reply<FailureAction> {
            let now = Date()
            guard let error = error as? TransportError, error.code.meansUnreachable,
                let (kept, arrival) = state.withLock({ state in state.kept.map { ($0, state.arrival) } }),
                arrival == nil, mayServeOnError(kept, at: now)
            else { return .now(.fail(error)) }
            return .now(.answer(stored(kept, for: hop, at: now)))
        }

        private func mayServeOnError(_ response: CachedResponse, at now: Date) -> Bool {
            CacheRules.mayUse(request) && CacheRules.mayServeOnError(response, to: request.control, at: now)
        }

        func ended(_ hop: Hop, with result: Result<TransportResponse, any Error>?) {
            keepArrival(of: hop, result)
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

        private func keepArrival(of hop: Hop, _ result: Result<TransportResponse, any Error>?) {
            let (arrival, requestDate) = state.withLock { ($0.arrival, $0.requestDate) }
            guard request.method == .get, let (head, date) = arrival else { return }
            guard let result else {
                // A redirect that is followed, for example.
                if head.status != 304 { forgetOlder(than: head) }
                return
            }
            guard case .success(let response) = result, response.head === head else { return }
            // Bodies that must not be kept are not copied first.
            let isKeepable =
                (head.contentLength ?? 0) <= Int64(CacheStage.longestBody)
                && CacheRules.storable(head, Data(), to: request, requestDate: requestDate, responseDate: date) != nil
            guard isKeepable else { return forgetOlder(than: head) }
            let receive: @Sendable (Data) -> Void = { [self] in keep(head, $0, requestDate, date) }
            switch response.body {
            case .data(let data) where data.count <= CacheStage.longestBody: receive(data)
            case .data, .connection: forgetOlder(than: head)
            case .stream(let stream):
                // Nobody knows yet whether it will be there whole.
                forgetOlder(than: head)
                stream.copy(upTo: CacheStage.longestBody, to: receive)
            case .file(let count):
                guard count <= CacheStage.longestBody, let descriptor = hop.exchange.delivery.descriptor,
                    let data = Data(lastBytes: Int(count), of: descriptor)
                else { return forgetOlder(than: head) }
                receive(data)
            }
        }

        private func keep(_ head: ResponseHead, _ body: Data, _ requestDate: Date, _ responseDate: Date) {
            let isWhole = head.values(for: .contentEncoding).isEmpty ? head.contentLength ?? Int64(body.count) : nil
            guard isWhole == nil || isWhole == Int64(body.count) else { return }
            let response = CacheRules.storable(
                head, body, to: request, requestDate: requestDate, responseDate: responseDate)
            guard let response else { return }
            switch handler?(response) ?? .now(response) {
            case .now(let response): store(response, from: head, requestDate)
            case .wait(let work): Task { [self] in store(await work(), from: head, requestDate) }
            }
        }

        private func store(_ response: CachedResponse?, from head: ResponseHead, _ requestDate: Date) {
            guard let response else { return forgetOlder(than: head) }
            guard !stage.invalidations.containsOne(of: request.url, since: requestDate) else { return }
            store.store(response)
        }

        /// What is kept is older than what is not kept. A failure says nothing about that.
        private func forgetOlder(than head: ResponseHead) {
            guard head.status < 400 || [404, 410].contains(head.status) else { return }
            if state.withLock({ $0.mayHaveOlder }) { store.removeResponses(for: request.url) }
        }

        /// A kept response as an answer, with its age (section 5.1).
        private func stored(_ response: CachedResponse, for hop: Hop, at now: Date) -> TransportResponse {
            var fields = response.fields
            // As many as 2³¹ when it is older (section 1.2.2).
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
    /// Whether the server did not answer. What is wrong with who it is, or with the request, is nothing to pass over.
    fileprivate var meansUnreachable: Bool {
        [.cannotFindHost, .cannotConnect, .notConnected, .connectionLost, .proxyFailed, .timedOut].contains(self)
    }
}
