import AfarTransport
import CLibcurl
import Foundation

/// The event loop that drives libcurl on its own thread. Only this thread calls libcurl; other threads post messages.
final class CurlLoop: TransportLoop, @unchecked Sendable {
    // Sendable because other threads use only the inbox.

    private enum Message {
        case transfer(Transfer, ExchangeSignal)
        /// A resolver has looked up a host.
        case lookedUp(Transfer, TransferLookups, host: Int, Result<[SocketAddress], Fault>)
        case loop(LoopRequest)
    }

    /// The maximum number of requests that share an HTTP/2 connection. Servers allow a hundred or more. The limit is lower,
    /// because a few requests are already running when the loop detects that requests can share a connection.
    private static let streamLimit = 90
    private static let knownHostLimit = 1_000

    private let inbox: LoopInbox<Message>
    private let poller: Poller

    // Only the loop's thread accesses these properties, so exclusivity checks are unnecessary. The same applies to pools and
    // submitted transfers.

    @exclusivity(unchecked) private var pools: CurlPools
    @exclusivity(unchecked) private var hostLimiter: HostLimiter<Transfer>
    @exclusivity(unchecked) private var lookupLimiter: LookupLimiter<Transfer>
    @exclusivity(unchecked) private var transfers: [Transfer] = []
    private let completions = CompletionQueue()
    @exclusivity(unchecked) private var gathering: [Transfer] = []
    /// Transfers whose response makes the rest of the request body unnecessary.
    @exclusivity(unchecked) private var refused: [Transfer] = []
    /// The number of turns of the loop.
    @exclusivity(unchecked) private(set) var iteration: UInt64 = 0
    /// Hosts whose transfers wait for a lookup, but may now use a cached address or an idle connection.
    @exclusivity(unchecked) private var knownHosts: Set<String> = []
    /// The HTTP version that was negotiated with each host over TLS.
    @exclusivity(unchecked) private var hostVersions: [String: HTTPVersion] = [:]
    @exclusivity(unchecked) private var nextExpiry = UInt64.max
    @exclusivity(unchecked) private var isSettled = true
    @exclusivity(unchecked) private var isShutDown = false
    /// When the events of the current turn arrived.
    @exclusivity(unchecked) private(set) var now = MonotonicClock.now

    init(configuration: ConnectionConfiguration, tls: TLSSettings) throws {
        inbox = try LoopInbox()
        poller = Poller(set: inbox.events)
        pools = CurlPools(poller: poller, configuration: configuration, tls: tls)
        hostLimiter = HostLimiter(limitPerHost: configuration.maximumConnectionsPerHost)
        lookupLimiter = LookupLimiter(limit: configuration.maximumLookups)
        try DetachedThread.start("afar.curl") { [self] in run() }
    }

    /// Posts a message. Can be called from any thread.
    func post(_ request: LoopRequest) { inbox.post(.loop(request)) }

    /// Posts a message about a transfer. Can be called from any thread.
    func post(_ signal: ExchangeSignal, of transfer: Transfer) { inbox.post(.transfer(transfer, signal)) }

    // MARK: The loop

    func run() {
        inbox.begin()
        while !isShutDown || !transfers.isEmpty || !inbox.close() {
            for pool in pools.all { pool.applyInterests() }
            let next = pools.all.reduce(min(nextExpiry, pools.nextSweep, lookupLimiter.nextDeadline)) {
                min($0, $1.nextDeadline)
            }
            let count = inbox.wait(until: isSettled ? next : 0)
            now = MonotonicClock.now
            iteration += 1
            for index in 0..<count {
                switch poller.event(index) {
                case .woken: break
                case .socket(let socket, let pool, let bits):
                    pools.socketIsReady(socket, ofPool: pool, bits: bits, at: now)
                }
            }
            inbox.receive(receive)
            resumeAfterRefusals()
            expire()
            pools.sweep(at: now)
            lookupLimiter.stopCounting(at: now)
            settle()
            completions.callAll()
            flush()
        }
        pools.closeAll()
    }

    private func receive(_ message: Message) {
        switch message {
        case .transfer(let transfer, .submit): submit(transfer)
        case .transfer(let transfer, .cancel): cancel(transfer)
        case .transfer(let transfer, .suspensionChanged):
            // Messages of two threads can arrive in the wrong order.
            transfer.state.setSuspended(transfer.exchange.control.isSuspended, at: now)
            pauseChanged(transfer)
        case .transfer(let transfer, .demand):
            guard transfer.response.pendingResult == nil else { return }
            transfer.state.isReceivingPaused = false
            pauseChanged(transfer)
        case .transfer(let transfer, .bodyReady):
            transfer.state.isSendingPaused = false
            pauseChanged(transfer)
        case .transfer(let transfer, .decided(let decision)): decided(transfer, decision)
        case .lookedUp(let transfer, let lookups, let host, let addresses):
            guard transfer.lookups === lookups else { return }
            continueLookups(of: transfer) { () throws(Fault) in try lookups.receive(host, addresses) }
        case .loop(.closeIdleConnections): pools.retire(running: transfers, at: now)
        case .loop(.countConnections(let answer)): answer(connectionCounts)
        case .loop(.run(let job)):
            job.run()
            now = MonotonicClock.now
        case .loop(.shutDown):
            isShutDown = true
            for transfer in transfers { cancel(transfer) }
        }
    }

    /// Runs everything that doesn't need to wait. A transfer can end as soon as it is added. This makes room for the next
    /// transfer.
    ///
    /// The number of rounds is limited, so messages and other sockets get their turn. While a server sends faster than the client
    /// reads, there is always more to do.
    private func settle() {
        isSettled = false
        for _ in 0..<4 where !isSettled {
            isSettled = true
            while let transfer = hostLimiter.admit() {
                transfer.state.admit(at: now)
                transfer.isAdmitted = true
                add(transfer)
                isSettled = false
            }
            while let (transfer, number) = lookupLimiter.admit(at: now) {
                transfer.lookup = .running(number)
                add(transfer)
                isSettled = false
            }
            if !knownHosts.isEmpty { tryWithoutLookup() }
            now = MonotonicClock.now
            for pool in pools.all {
                if pool.runTimers(at: now) { isSettled = false }
                while let (easy, code) = pool.nextDone() {
                    if let transfer = Transfer.of(easy) {
                        ended(transfer, code: code)
                    } else if !pool.sweepEnded(easy), let lookup = pool.releaseAbandoned(easy)?.lookup {
                        lookupLimiter.release(lookup)
                    }
                    isSettled = false
                }
            }
        }
        pools.closeRetired()
        pools.endSurplus(at: now)
    }

    /// Ends the transfers whose deadline has passed. A deadline never moves to an earlier time, so the next check can wait until
    /// the earliest deadline.
    private func expire() {
        guard nextExpiry <= now else { return }
        let expired = transfers.compactMap { transfer in transfer.expiry(at: now).map { (transfer, $0) } }
        for (transfer, fault) in expired {
            transfer.state.fail(fault)
            finish(transfer, code: CURLE_OPERATION_TIMEDOUT)
        }
        nextExpiry = transfers.reduce(.max) { min($0, $1.state.nextDeadline) }
    }

    /// Schedules a transfer's gathered body pieces for delivery after the ready events have been processed.
    func flushLater(_ transfer: Transfer) {
        guard !transfer.isGathering else { return }
        transfer.isGathering = true
        gathering.append(transfer)
    }

    private func flush() {
        guard !gathering.isEmpty else { return }
        for transfer in gathering {
            transfer.isGathering = false
            transfer.sink.flush()
        }
        gathering.removeAll(keepingCapacity: true)
    }

    /// Records that the rest of a request's body is unnecessary.
    func noteRefusal(of transfer: Transfer) {
        refused.append(transfer)
        transfer.post(.bodyReady)
    }

    /// Resumes sending for refused transfers after each turn. When a response makes the rest of the body unnecessary, libcurl
    /// stops sending, sometimes only after the response is complete. However, libcurl doesn't stop while sending is paused to
    /// wait for bytes of the body.
    private func resumeAfterRefusals() {
        for transfer in refused where transfer.state.isSendingPaused {
            transfer.state.isSendingPaused = false
            pauseChanged(transfer)
        }
    }

    // MARK: Transfers

    private func submit(_ transfer: Transfer) {
        transfer.index = transfers.count
        transfers.append(transfer)
        if isShutDown { transfer.state.fail(.cancelled) }
        transfer.state.setSuspended(transfer.exchange.control.isSuspended, at: now)
        guard transfer.state.fault == nil else { return finish(transfer, code: CURLE_ABORTED_BY_CALLBACK) }
        noteDeadline(of: transfer)
        enqueue(transfer)
    }

    /// Adds a transfer to its host's queue. If requests to the host share connections, the limit applies to streams.
    private func enqueue(_ transfer: Transfer) {
        let host = transfer.limitedHost
        let version = transfer.plan.version
        let isShared = version == .http2 || version == .negotiated && hostVersions[host] == .http2
        transfer.limitedBy =
            isShared
            ? hostLimiter.enqueue(transfer, host: "2 " + host, limit: Self.streamLimit)
            : hostLimiter.enqueue(transfer, host: host)
    }

    /// Records the HTTP version that a host negotiated. Called by a libcurl callback on the loop's thread.
    func didNegotiate(usesHTTP2: Bool, for transfer: Transfer) {
        let (host, version) = (transfer.limitedHost, usesHTTP2 ? HTTPVersion.http2 : .http1)
        guard hostVersions[host] != version else { return }
        // Limit the memory for hosts that are never requested again.
        if hostVersions.count == Self.knownHostLimit { hostVersions.removeAll() }
        hostVersions[host] = version
        for waiter in hostLimiter.withdrawAll(host: usesHTTP2 ? host : "2 " + host) { enqueue(waiter) }
        isSettled = false
    }

    /// Returns the pool for a transfer. If the host might support HTTP/2, requests that can't use HTTP/2 get separate connections.
    /// An example is a request that authenticates its connection. Without the separation, libcurl would use an idle HTTP/1.1
    /// connection for a request that could share an HTTP/2 connection.
    private func pool(of transfer: Transfer) -> CurlPool? {
        let plan = transfer.plan
        let isSeparate =
            plan.isSecure && plan.version == .http1
            && (transfer.exchange.options.httpVersion == .http2 || transfer.authentication != nil)
            && hostVersions[transfer.limitedHost] != .http1
        return pools.pool(
            for: transfer.exchange.options.security, over: plan.route?.identity, under: plan.policy,
            isSeparateHTTP1: isSeparate)
    }

    /// Adds a transfer to libcurl with a new handle. Called for a new transfer, after a wait for a lookup, and to start over on a
    /// new connection.
    private func add(_ transfer: Transfer) {
        guard let pool = pool(of: transfer), let handle = pool.makeHandle() else {
            transfer.state.fail(Fault(.outOfResources, "no memory for another transfer"))
            return finish(transfer, code: CURLE_OUT_OF_MEMORY)
        }
        transfer.attempt = Transfer.Attempt(handle: handle, pool: pool)
        transfer.recordingFault { () throws(Fault) in try transfer.configure(handle, pool: pool) }
        guard transfer.state.fault == nil else { return finish(transfer, code: CURLE_ABORTED_BY_CALLBACK) }
        guard pool.add(handle) == CURLM_OK else {
            transfer.state.fail(Fault(.outOfResources, "libcurl did not accept the transfer"))
            return finish(transfer, code: CURLE_OUT_OF_MEMORY)
        }
        transfer.attempt.start = Date()
        noteDeadline(of: transfer)
    }

    private func closeHandle(of transfer: Transfer) {
        guard let handle = transfer.attempt.handle.take(), let pool = transfer.attempt.pool else { return }
        transfer.releaseKeptNames()
        pool.release(handle)
        pools.transferEnded(in: pool, at: now)
    }

    private func cancel(_ transfer: Transfer) {
        transfer.state.fail(.cancelled)
        // The cancellation can arrive before the submission.
        if transfer.index != nil { finish(transfer, code: CURLE_ABORTED_BY_CALLBACK) }
    }

    /// Applies the decision about a response whose head has arrived.
    private func decided(_ transfer: Transfer, _ decision: HeadDecision) {
        guard transfer.state.phase != .finished else { return }
        transfer.recordingFault { () throws(Fault) in try transfer.decide(decision) }
        if transfer.state.fault != nil {
            finish(transfer, code: CURLE_ABORTED_BY_CALLBACK)
        } else if transfer.isUndecided {
            return
        } else if let pendingResult = transfer.response.pendingResult {
            finish(transfer, code: pendingResult.code)
        } else {
            transfer.state.isReceivingPaused = false
            pauseChanged(transfer)
        }
    }

    /// Releases the slot of a transfer that waits for a decision, so another transfer to the host can start.
    func releaseSlot(of transfer: Transfer) {
        guard transfer.isAdmitted, let host = transfer.limitedBy.take() else { return }
        hostLimiter.release(host)
        isSettled = false
    }

    private func pauseChanged(_ transfer: Transfer) {
        guard transfer.state.phase >= .connected, let handle = transfer.attempt.handle else { return }
        // If the transfer refuses data that was stored during a pause, libcurl reports this only here.
        let code = transfer.applyPauses(to: handle)
        transfer.state.pauseDidChange(at: now)
        noteDeadline(of: transfer)
        if code != CURLE_OK, code != CURLE_BAD_FUNCTION_ARGUMENT { finish(transfer, code: code) }
    }

    // MARK: Lookups

    /// Returns whether libcurl can look up a transfer's host now. If the result is false, libcurl ends the transfer. The loop
    /// then adds the transfer to libcurl again when the lookup limiter admits it.
    ///
    /// libcurl calls this method on the loop's thread if it has neither a cached address nor a suitable idle connection.
    func canLookUp(_ transfer: Transfer) -> Bool {
        if let lookups = transfer.plan.route?.lookups {
            if lookups.isAddress(isConnected: transfer.attempt.openedSocket != nil),
                transfer.cacheEntries != nil || lookups.hosts.allSatisfy(\.isAddress)
            {
                return true
            }
            transfer.lookup = .resolving
            return false
        }
        guard transfer.plan.needsLookup, transfer.sendCount == 0, transfer.lookup == .none else { return true }
        let number = lookupLimiter.enter(transfer, host: transfer.plan.host, at: now)
        transfer.lookup = number.map { .running($0) } ?? .waiting
        return number != nil
    }

    /// Starts lookups with a transfer's resolver instead of libcurl.
    private func startLookups(of transfer: Transfer) {
        guard let lookups = transfer.plan.route?.lookups.map({ TransferLookups($0) }) else { return }
        transfer.lookups = lookups
        continueLookups(of: transfer) { () throws(Fault) in
            try transfer.prepareForLookups(at: now)
            noteDeadline(of: transfer)
            return try lookups.start { [self] host, addresses in
                inbox.post(.lookedUp(transfer, lookups, host: host, addresses))
            }
        }
    }

    /// Adds a transfer to libcurl again if a step of its lookups returns the entries for libcurl's cache.
    private func continueLookups(of transfer: Transfer, _ step: () throws(Fault) -> [String]?) {
        let entries = transfer.recordingFault(step)
        guard transfer.state.fault == nil else { return finish(transfer, code: CURLE_COULDNT_RESOLVE_HOST) }
        guard case let entries?? = entries else { return }
        transfer.cacheEntries = entries
        (transfer.lookup, transfer.lookups) = (.none, nil)
        add(transfer)
        isSettled = false
    }

    /// Adds transfers that wait for a lookup, if their host may now have a cached address or an idle connection.
    private func tryWithoutLookup() {
        let hosts = knownHosts
        knownHosts = []
        for transfer in transfers where transfer.lookup == .waiting && hosts.contains(transfer.plan.host) {
            lookupLimiter.withdraw(transfer)
            transfer.lookup = .none
            add(transfer)
            isSettled = false
        }
    }

    /// Ends a transfer's lookup, because libcurl has the host's address or the transfer has ended. Called on the loop's thread.
    func lookupEnded(_ transfer: Transfer) {
        guard case .running(let number) = transfer.lookup else { return }
        transfer.lookup = .none
        lookupLimiter.release(number)
        if lookupLimiter.isWaitedFor { knownHosts.insert(transfer.plan.host) }
    }

    func noteDeadline(of transfer: Transfer) {
        nextExpiry = min(nextExpiry, transfer.state.nextDeadline)
    }

    /// Delivers the head of a streamed response.
    func deliver(_ response: TransportResponse, of transfer: Transfer) {
        completions.add(transfer.completion.take(), with: .success(response))
    }

    /// Called when libcurl has finished a transfer. The transfer ends, starts over, or waits for a lookup.
    private func ended(_ transfer: Transfer, code: CURLcode) {
        if transfer.lookup == .waiting {
            closeHandle(of: transfer)
        } else if transfer.lookup == .resolving {
            closeHandle(of: transfer)
            startLookups(of: transfer)
        } else if transfer.attempt.mustStartOver {
            closeHandle(of: transfer)
            transfer.needsFreshConnection = true
            add(transfer)
        } else {
            finish(transfer, code: transfer.isComplete(despite: code) ? CURLE_OK : code, isDone: true)
        }
    }

    /// - Parameter isDone: Whether libcurl has finished the transfer. If not, the transfer is stopped, but its lookup continues.
    private func finish(_ transfer: Transfer, code: CURLcode, isDone: Bool = false) {
        let phase = transfer.phase
        if code == CURLE_OK { transfer.recordingFault(transfer.deliverRefusal) }
        if isDone, transfer.isUndecided, transfer.state.fault == nil {
            return storeResult(of: transfer, code: code, phase: phase)
        }
        if code == CURLE_OK, transfer.state.fault == nil, !transfer.isDiscarded {
            transfer.recordingFault(transfer.checkBody)
        }
        guard transfer.state.finish() else { return }
        // Detach before calling the completion, because the next exchange can use the same control.
        transfer.exchange.control.attach(nil)
        let result = transfer.result(of: code, phase: phase)
        releaseHandle(of: transfer, isDone: isDone)
        leave(transfer)
        refused.removeAll { $0 === transfer }
        transfer.release()
        // If the response was streamed, the completion has already been called.
        if let result { completions.add(transfer.completion.take(), with: result) }
    }

    /// Stores a transfer that libcurl has finished, until the pending decision is made. Releases its connection and its slot.
    private func storeResult(of transfer: Transfer, code: CURLcode, phase: TransportError.Phase) {
        let report = transfer.report
        let failure = code == CURLE_OK ? nil : transfer.failure(code, phase: phase, report: report)
        transfer.response.pendingResult = Transfer.PendingResult(code: code, report: report, failure: failure)
        transfer.state.isReceivingPaused = true
        transfer.state.pauseDidChange(at: now)
        transfer.closeFeed()
        releaseHandle(of: transfer, isDone: true)
        releaseSlot(of: transfer)
    }

    private func releaseHandle(of transfer: Transfer, isDone: Bool) {
        guard let handle = transfer.attempt.handle, let pool = transfer.attempt.pool else { return }
        let socket = transfer.attempt.socket
        if let socket {
            if transfer.state.fault?.code == .timedOut { pool.didTimeOut(socket) }
            pool.didRelease(socket, by: transfer, at: now)
            pools.connectionFreed(at: now)
        }
        if case .running(let number) = transfer.lookup, transfer.attempt.start != nil, !isDone {
            transfer.lookup = .none
            lookupLimiter.abandon(number)
            handle.lookup = number
        } else if !isDone, transfer.attempt.start != nil, transfer.mustBeReadToItsEnd,
            socket.map({ pool.connections.hasEnded($0) }) != true
        {
            handle.discard()
        } else {
            return closeHandle(of: transfer)
        }
        transfer.attempt.handle = nil
        transfer.releaseKeptNames()
        pool.abandon(handle)
    }

    /// Removes a transfer from the loop's lists.
    private func leave(_ transfer: Transfer) {
        lookupEnded(transfer)
        if transfer.lookup == .waiting { lookupLimiter.withdraw(transfer) }
        transfer.lookups.take()?.cancel()
        if lookupLimiter.isWaitedFor { knownHosts.insert(transfer.plan.host) }
        if let host = transfer.limitedBy {
            if transfer.isAdmitted { hostLimiter.release(host) } else { hostLimiter.withdraw(transfer, from: host) }
        }
        guard let index = transfer.index, let last = transfers.popLast() else { return }
        if last !== transfer {
            transfers[index] = last
            last.index = index
        }
    }

    // MARK: Statistics

    private var connectionCounts: [ConnectionStatistics.Host] {
        let connections = Dictionary(grouping: pools.all.flatMap(\.connections.connected), by: \.host)
        let unconnected = transfers.filter { $0.attempt.openedSocket == nil && $0.attempt.socket == nil }
        let waiting = Dictionary(grouping: unconnected, by: \.plan.host)
        return Set(connections.keys).union(waiting.keys).map { host in
            let idle = connections[host]?.count(where: \.isIdle) ?? 0
            return ConnectionStatistics.Host(
                origin: host, idle: idle, inUse: (connections[host]?.count ?? 0) - idle,
                waiting: waiting[host]?.count ?? 0)
        }
    }
}
