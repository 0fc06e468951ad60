import AfarTransport
import CLibcurl
import Foundation
import Synchronization

/// The thread that drives libcurl. Everything of libcurl's is touched on this thread only; others leave messages.
final class CurlLoop: @unchecked Sendable {
    // Sendable because other threads reach only the mailbox and the poller's `wake`; the rest is the thread's own.

    /// What is handed back once the loop has finished its ready events.
    private struct Ending {
        var completion: Transfer.Completion
        var result: Result<TransportResponse, any Error>
    }

    /// How many requests may share a connection of HTTP/2. Servers allow a hundred or more, and a few are on their way when it is
    /// found that they may share one.
    private static let streamLimit = 90
    private static let knownHostLimit = 1_000

    private let mailbox = Locked(Mailbox())
    private let events: EpollSet
    private let poller: Poller
    private let thread = Atomic<pthread_t>(0)

    // Only the loop's thread touches these, so there is nothing for the runtime to check at each access. The same holds
    // for pools, and for transfers after they were submitted.

    @exclusivity(unchecked) private var pools: CurlPools
    @exclusivity(unchecked) private var hostLimiter: HostLimiter<Transfer>
    @exclusivity(unchecked) private var lookupLimiter: LookupLimiter<Transfer>
    @exclusivity(unchecked) private var transfers: [Transfer] = []
    /// Whether the thread has left messages for itself, so that it must not sleep.
    @exclusivity(unchecked) private var hasOwnMessages = false
    /// The messages that are being handled.
    @exclusivity(unchecked) private var messages: [Message] = []
    @exclusivity(unchecked) private var endings: [Ending] = []
    /// Those whose completions are being called, which may bring about more.
    @exclusivity(unchecked) private var readyEndings: [Ending] = []
    @exclusivity(unchecked) private var gathering: [Transfer] = []
    /// Transfers whose answers make the rest of their bodies needless.
    @exclusivity(unchecked) private var refused: [Transfer] = []
    /// Counts the turns of the loop.
    @exclusivity(unchecked) private(set) var iteration: UInt64 = 0
    /// Hosts that waiting transfers need not look up any more, perhaps.
    @exclusivity(unchecked) private var knownHosts: Set<String> = []
    /// What hosts were found to speak over TLS.
    @exclusivity(unchecked) private var hostVersions: [String: HTTPVersion] = [:]
    @exclusivity(unchecked) private var nextExpiry = UInt64.max
    @exclusivity(unchecked) private var isSettled = true
    @exclusivity(unchecked) private var isShutDown = false
    /// When the events that are being handled were found.
    @exclusivity(unchecked) private(set) var now = MonotonicClock.now

    init(configuration: CurlTransport.Configuration, tls: TLSSettings) throws {
        events = try EpollSet()
        poller = Poller(set: events)
        pools = CurlPools(poller: poller, configuration: configuration, tls: tls)
        hostLimiter = HostLimiter(limitPerHost: configuration.maximumConnectionsPerHost)
        lookupLimiter = LookupLimiter(limit: configuration.maximumLookups)
        try DetachedThread.start("afar.curl") { [self] in run() }
    }

    /// Leaves a message. May be called from any thread. When the thread has ended, messages about transfers, which are
    /// all over by then, mean nothing any more.
    func post(_ message: Message) {
        let mustWake = mailbox.withLock { mailbox in
            guard !mailbox.isClosed else { return false }
            mailbox.messages.append(message)
            return mailbox.messages.count == 1
        }
        guard mustWake else { return }
        if thread.load(ordering: .relaxed) == pthread_self() {
            hasOwnMessages = true
        } else {
            events.wake()
        }
    }

    // MARK: The loop

    func run() {
        thread.store(pthread_self(), ordering: .relaxed)
        while !hasEnded() {
            for pool in pools.all { pool.applyInterests() }
            let count = events.wait(milliseconds: pollTimeout())
            now = MonotonicClock.now
            iteration += 1
            for index in 0..<count {
                switch poller.event(index) {
                case .woken: break
                case .socket(let socket, let pool, let bits):
                    pools.socketIsReady(socket, ofPool: pool, bits: bits, at: now)
                }
            }
            takeMessages()
            resumeAfterRefusals()
            expire()
            pools.sweep(at: now)
            settle()
            callCompletions()
            flush()
        }
        pools.closeAll()
    }

    /// Whether all is done; from then on the mailbox is closed, or its messages would keep the loop and themselves alive.
    private func hasEnded() -> Bool {
        guard isShutDown, transfers.isEmpty else { return false }
        return mailbox.withLock { mailbox in
            mailbox.isClosed = mailbox.messages.isEmpty
            return mailbox.isClosed
        }
    }

    /// How long the loop may sleep, in milliseconds.
    private func pollTimeout() -> Int32 {
        guard isSettled, !hasOwnMessages else { return 0 }
        let next = pools.all.reduce(min(nextExpiry, pools.nextSweep)) { min($0, $1.nextDeadline) }
        guard next != .max else { return -1 }
        let now = MonotonicClock.now
        guard next > now else { return 0 }
        return Int32(clamping: (next - now + 999_999) / 1_000_000)
    }

    private func takeMessages() {
        hasOwnMessages = false
        mailbox.withLock { swap(&$0.messages, &messages) }
        defer { messages.removeAll(keepingCapacity: true) }
        for message in messages {
            switch message {
            case .submit(let transfer): submit(transfer)
            case .cancel(let transfer): cancel(transfer)
            case .suspensionChanged(let transfer):
                // Read here and not sent along: two threads may leave their messages in the wrong order.
                transfer.state.setSuspended(transfer.exchange.control.isSuspended, at: now)
                pauseChanged(transfer)
            case .demand(let transfer) where transfer.response.early == nil:
                transfer.state.isReceivingPaused = false
                pauseChanged(transfer)
            case .demand: break
            case .bodyReady(let transfer):
                transfer.state.isSendingPaused = false
                pauseChanged(transfer)
            case .decided(let transfer, let decision): decided(transfer, decision)
            case .closeIdleConnections: pools.retire(running: transfers, at: now)
            case .countConnections(let answer): answer(connectionCounts)
            case .run(let job):
                job.run()
                now = MonotonicClock.now
            case .shutDown:
                isShutDown = true
                for transfer in transfers { cancel(transfer) }
            }
        }
    }

    /// Lets happen what can happen without waiting: adding a transfer can complete it at once, which makes room for the
    /// next. Where a server sends faster than is read there is always more to do, so that messages and other sockets have
    /// their turn after some rounds.
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
            while let transfer = lookupLimiter.admit() {
                lookUp(for: transfer)
                isSettled = false
            }
            if !knownHosts.isEmpty { tryWithoutLookup() }
            now = MonotonicClock.now
            for pool in pools.all {
                if pool.runTimers(at: now) { isSettled = false }
                while let (easy, code) = pool.nextDone() {
                    if let transfer = Transfer.of(easy) {
                        ended(transfer, code: code)
                    } else if !pool.sweepEnded(easy), pool.abandonedEnded(easy)?.isDiscarding == false {
                        lookupLimiter.abandonedEnded()
                    }
                    isSettled = false
                }
            }
        }
        pools.closeRetired()
        pools.endSurplus(at: now)
    }

    /// Ends the transfers whose time is up. Deadlines only ever move later, so a look at all of them is needed no more
    /// often than the shortest timeout.
    private func expire() {
        guard nextExpiry <= now else { return }
        let expired = transfers.compactMap { transfer in transfer.state.expiry(at: now).map { (transfer, $0) } }
        for (transfer, fault) in expired {
            transfer.state.fail(fault)
            finish(transfer, code: CURLE_OPERATION_TIMEDOUT)
        }
        nextExpiry = transfers.reduce(.max) { min($0, $1.state.nextDeadline) }
    }

    /// A transfer has gathered pieces of its body, to be handed over when the ready events are done with.
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

    /// The rest of a request's body is not wanted any more.
    func noteRefusal(of transfer: Transfer) {
        refused.append(transfer)
        post(.bodyReady(transfer))
    }

    /// libcurl stops sending once an answer makes the rest of the body needless, in some cases only when the answer is whole;
    /// but not while the sending stands still, because the body's maker has nothing ready. So it is resumed each time
    /// that something has happened.
    private func resumeAfterRefusals() {
        for transfer in refused where transfer.state.isSendingPaused {
            transfer.state.isSendingPaused = false
            pauseChanged(transfer)
        }
    }

    private func callCompletions() {
        guard !endings.isEmpty else { return }
        swap(&endings, &readyEndings)
        for ending in readyEndings { ending.completion(ending.result) }
        readyEndings.removeAll(keepingCapacity: true)
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

    /// Has a transfer wait for its turn at its host. Where many share a connection, it is not the connections that are counted.
    private func enqueue(_ transfer: Transfer) {
        let host = transfer.limitedHost
        let version = transfer.plan.version
        let isShared = version == .http2 || version == .negotiated && hostVersions[host] == .http2
        transfer.slot =
            isShared
            ? hostLimiter.enqueue(transfer, host: "2 " + host, limit: Self.streamLimit)
            : hostLimiter.enqueue(transfer, host: host)
    }

    /// A handshake has shown which version of HTTP a host speaks. Called back on the loop's thread.
    func serverAgreed(toHTTP2 speaksHTTP2: Bool, with transfer: Transfer) {
        let (host, version) = (transfer.limitedHost, speaksHTTP2 ? HTTPVersion.http2 : .http1)
        guard hostVersions[host] != version else { return }
        // Of all that were ever asked, nobody would make an end.
        if hostVersions.count == Self.knownHostLimit { hostVersions.removeAll() }
        hostVersions[host] = version
        for waiter in hostLimiter.withdrawAll(host: speaksHTTP2 ? host : "2 " + host) { enqueue(waiter) }
        isSettled = false
    }

    /// If a host supports HTTP/2, or may do so, requests that HTTP/2 isn't fit for, such as those that authenticate their connection,
    /// use separate connections: libcurl would use an idle one for a request that could share a connection.
    private func pool(of transfer: Transfer) -> CurlPool? {
        let plan = transfer.plan
        let isBeside =
            plan.isSecure && plan.version == .http1
            && (transfer.exchange.options.httpVersion == .http2 || transfer.authentication != nil)
            && hostVersions[transfer.limitedHost] != .http1
        return pools.pool(
            for: transfer.exchange.options.security, over: plan.route?.identity, isHTTP1Beside2: isBeside)
    }

    /// Gives a transfer to libcurl, in a handle that was not used before: for the first time, on a new connection, or after it
    /// has waited to look up its host.
    private func add(_ transfer: Transfer) {
        guard let pool = pool(of: transfer), let handle = pool.makeHandle() else {
            transfer.state.fail(Fault(.outOfResources, "no memory for another transfer"))
            return finish(transfer, code: CURLE_OUT_OF_MEMORY)
        }
        transfer.attempt = Transfer.Attempt(handle: handle, pool: pool)
        do {
            try transfer.configure(handle, pool: pool)
        } catch let fault as Fault {
            transfer.state.fail(fault)
            return finish(transfer, code: CURLE_ABORTED_BY_CALLBACK)
        } catch {
            transfer.state.fail(Fault(.unknown, "libcurl refused an option", underlying: error))
            return finish(transfer, code: CURLE_UNKNOWN_OPTION)
        }
        guard pool.add(handle) == CURLM_OK else {
            transfer.state.fail(Fault(.outOfResources, "libcurl could not take the transfer"))
            return finish(transfer, code: CURLE_OUT_OF_MEMORY)
        }
        transfer.attempt.start = Date()
        noteDeadline(of: transfer)
    }

    private func closeHandle(of transfer: Transfer) {
        guard let handle = transfer.attempt.handle.take(), let pool = transfer.attempt.pool else { return }
        pool.release(handle)
        pools.transferEnded(in: pool, at: now)
    }

    private func cancel(_ transfer: Transfer) {
        transfer.state.fail(.cancelled)
        // A cancel can arrive before the submission; it then waits in the state.
        if transfer.index != nil { finish(transfer, code: CURLE_ABORTED_BY_CALLBACK) }
    }

    /// It is known what is done with a response whose head has come.
    private func decided(_ transfer: Transfer, _ decision: HeadDecision) {
        guard transfer.state.phase != .finished else { return }
        transfer.attempt { () throws(Fault) in try transfer.decide(decision) }
        if transfer.state.fault != nil {
            finish(transfer, code: CURLE_ABORTED_BY_CALLBACK)
        } else if transfer.isUndecided {
            return
        } else if let early = transfer.response.early {
            finish(transfer, code: early.code)
        } else {
            transfer.state.isReceivingPaused = false
            pauseChanged(transfer)
        }
    }

    /// Releases the transfer's slot while it waits for its decision, so that another to the host may begin.
    func releaseSlot(of transfer: Transfer) {
        guard let slot = transfer.slot, transfer.isAdmitted else { return }
        transfer.slot = nil
        hostLimiter.release(slot)
        isSettled = false
    }

    private func pauseChanged(_ transfer: Transfer) {
        guard transfer.state.phase >= .connected, let handle = transfer.attempt.handle else { return }
        // When waiting data is refused now, libcurl says so here and nowhere else.
        let code = transfer.applyPauses(to: handle)
        transfer.state.pauseDidChange(at: now)
        noteDeadline(of: transfer)
        if code != CURLE_OK, code != CURLE_BAD_FUNCTION_ARGUMENT { finish(transfer, code: code) }
    }

    // MARK: Look-ups

    /// libcurl is about to look up a host's name, which it knows of no earlier transfer and for which no kept connection
    /// would do. Called back on the loop's thread. If the answer is no, libcurl gives the transfer up, and it waits.
    func mayLookUp(_ transfer: Transfer) -> Bool {
        guard transfer.plan.needsLookup, transfer.sendCount == 0, case .none = transfer.lookup else { return true }
        let (slot, isAdmitted) = lookupLimiter.enter(transfer)
        transfer.lookup = isAdmitted ? .running(slot) : .waiting(slot)
        return isAdmitted
    }

    /// It is the turn of a transfer that waited for its look-up.
    private func lookUp(for transfer: Transfer) {
        guard case .waiting(let slot) = transfer.lookup else { return }
        transfer.lookup = .running(slot)
        add(transfer)
    }

    /// Others have found an address since, or have left a connection: who waits to look up the same host may do without.
    private func tryWithoutLookup() {
        let hosts = knownHosts
        knownHosts = []
        for transfer in transfers where hosts.contains(transfer.plan.host) {
            guard case .waiting(let slot) = transfer.lookup else { continue }
            lookupLimiter.withdraw(slot)
            transfer.lookup = .none
            add(transfer)
            isSettled = false
        }
    }

    /// A callback of libcurl's saw the host's address; it is the loop's thread.
    func lookupEnded(_ transfer: Transfer) {
        guard case .running(let slot) = transfer.lookup else { return }
        transfer.lookup = .none
        lookupLimiter.release(slot)
        if lookupLimiter.isWaitedFor { knownHosts.insert(transfer.plan.host) }
    }

    func noteDeadline(of transfer: Transfer) {
        nextExpiry = min(nextExpiry, transfer.state.nextDeadline)
    }

    /// The head of a streamed response is there: its task goes on.
    func deliver(_ response: TransportResponse, of transfer: Transfer) {
        guard let completion = transfer.takeCompletion() else { return }
        endings.append(Ending(completion: completion, result: .success(response)))
    }

    /// libcurl is done with a transfer.
    private func ended(_ transfer: Transfer, code: CURLcode) {
        if case .waiting = transfer.lookup {
            closeHandle(of: transfer)
        } else if transfer.attempt.mustStartOver {
            closeHandle(of: transfer)
            transfer.needsFreshConnection = true
            add(transfer)
        } else {
            finish(transfer, code: transfer.isComplete(despite: code) ? CURLE_OK : code, isDone: true)
        }
    }

    /// - Parameter isDone: Whether libcurl is done with the transfer. If not, it is stopped, all but a look-up.
    private func finish(_ transfer: Transfer, code: CURLcode, isDone: Bool = false) {
        let phase = transfer.phase
        if code == CURLE_OK { transfer.attempt(transfer.deliverRefusal) }
        if isDone, transfer.isUndecided, transfer.state.fault == nil {
            return setAside(transfer, code: code, phase: phase)
        }
        if code == CURLE_OK, transfer.state.fault == nil, !transfer.isDiscarded { transfer.attempt(transfer.checkBody) }
        guard transfer.state.finish() else { return }
        // Before the end is reported: the next exchange may have the same control.
        transfer.exchange.control.attach(nil)
        let result = transfer.result(of: code, phase: phase)
        releaseHandle(of: transfer, isDone: isDone)
        leave(transfer)
        refused.removeAll { $0 === transfer }
        transfer.release()
        // A streamed response has used up its completion and needs no second result.
        if let completion = transfer.takeCompletion(), let result {
            endings.append(Ending(completion: completion, result: result))
        }
    }

    /// libcurl is done with a transfer whose decision is still awaited. Its connection and its slot are for others.
    private func setAside(_ transfer: Transfer, code: CURLcode, phase: TransportError.Phase) {
        let report = transfer.report
        let failure = code == CURLE_OK ? nil : transfer.failure(code, phase: phase, report: report)
        transfer.response.early = Transfer.EarlyEnd(code: code, report: report, failure: failure)
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
            if transfer.state.fault?.code == .timedOut { pool.timedOut(socket) }
            pool.freed(socket, by: transfer, at: now)
            pools.connectionFreed(at: now)
        }
        if case .running(let slot) = transfer.lookup, transfer.attempt.start != nil, !isDone {
            transfer.lookup = .none
            lookupLimiter.abandon(slot)
        } else if !isDone, transfer.attempt.start != nil, transfer.mustBeReadToItsEnd,
            socket.map({ pool.hasEnded($0) }) != true
        {
            handle.discard()
        } else {
            return closeHandle(of: transfer)
        }
        transfer.attempt.handle = nil
        pool.abandon(handle)
    }

    /// Takes a transfer out of the loop's lists.
    private func leave(_ transfer: Transfer) {
        lookupEnded(transfer)
        if case .waiting(let slot) = transfer.lookup { lookupLimiter.withdraw(slot) }
        if lookupLimiter.isWaitedFor { knownHosts.insert(transfer.plan.host) }
        if let slot = transfer.slot {
            if transfer.isAdmitted { hostLimiter.release(slot) } else { hostLimiter.withdraw(slot) }
        }
        guard let index = transfer.index, let last = transfers.popLast() else { return }
        if last !== transfer {
            transfers[index] = last
            last.index = index
        }
    }

    // MARK: Statistics

    private var connectionCounts: [ConnectionStatistics.Host] {
        let connections = Dictionary(grouping: pools.all.flatMap(\.connected), by: \.host)
        let unconnected = transfers.filter { $0.attempt.openedSocket == nil && $0.attempt.socket == nil }
        let waiting = Dictionary(grouping: unconnected, by: \.plan.host)
        return Set(connections.keys).union(waiting.keys).map { host in
            let idle = connections[host]?.count(where: \.isIdle) ?? 0
            return ConnectionStatistics.Host(
                origin: RequestPlan.origin(ofHost: host), idle: idle, inUse: (connections[host]?.count ?? 0) - idle,
                waiting: waiting[host]?.count ?? 0)
        }
    }
}
