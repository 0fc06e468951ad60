import AfarTransport
import CLibcurl
import Foundation

/// A libcurl multi handle and its connections. It belongs to the thread of one loop.
final class CurlPool {
    let number: UInt32
    private let multi: UnsafeMutableRawPointer
    /// The libcurl share handle. It stores the TLS sessions, because each transfer has a new easy handle.
    private let share: UnsafeMutableRawPointer
    let tls: TLSSettings
    /// Which requests can use the pool's connections.
    let purpose: CurlPools.Purpose
    /// The security requirements for the pool's connections; nil for the defaults.
    let security: ConnectionSecurity?
    private let poller: Poller
    private let keepsConnections: Bool
    private let maximumIdleSeconds: Int
    private let happyEyeballsMilliseconds: Int
    @exclusivity(unchecked) private var interests = SocketInterests()
    @exclusivity(unchecked) private(set) var connections = Connections()
    /// Sockets whose peer sent data, or closed the connection, while no request was running.
    @exclusivity(unchecked) private var socketsWithUnsolicitedData: Set<Int32> = []
    /// Sockets of shared connections that accept no more requests, because a request timed out.
    @exclusivity(unchecked) private var unresponsive: Set<Int32> = []
    /// Sockets whose transfers have ended since the last poll.
    @exclusivity(unchecked) private var justFreed: [Int32] = []
    /// Handles that no longer have a transfer, but whose lookup or response continues.
    @exclusivity(unchecked) private var abandoned: [EasyHandle] = []
    /// How many transfers need each name's addresses in libcurl's cache.
    @exclusivity(unchecked) private var keptNames: [String: Int] = [:]
    @exclusivity(unchecked) private var deadline: UInt64?
    @exclusivity(unchecked) private var watchdog: StreamWatchdog?
    /// Whether libcurl was called since ``nextDone()`` last returned nil, so transfers may have ended.
    @exclusivity(unchecked) private var wasCalled = false
    /// Whether libcurl's transfers must run, because one of them may have an address to try.
    @exclusivity(unchecked) private var mustTryAddresses = false
    /// The transfer that ``sweep()`` starts.
    @exclusivity(unchecked) private var sweeper: UnsafeMutableRawPointer?
    @exclusivity(unchecked) private var isSweeping = false
    /// The number of handles, including the abandoned ones.
    @exclusivity(unchecked) private var handlesInUse = 0
    var isUnused: Bool { handlesInUse == 0 }
    /// Whether new requests use another pool. A retired pool closes when its last transfer has ended.
    @exclusivity(unchecked) private(set) var isRetired = false

    init?(
        number: UInt32, purpose: CurlPools.Purpose, security: ConnectionSecurity?, poller: Poller,
        configuration: ConnectionConfiguration, tls: TLSSettings
    ) {
        guard let multi = curl_multi_init() else { return nil }
        guard let share = curl_share_init() else {
            curl_multi_cleanup(multi)
            return nil
        }
        _ = afar_share(share, CURL_LOCK_DATA_SSL_SESSION)
        (self.number, self.multi, self.share, self.poller) = (number, multi, share, poller)
        (self.purpose, self.security, self.tls) = (purpose, security, tls)
        maximumIdleSeconds = configuration.maximumIdleSeconds
        happyEyeballsMilliseconds = configuration.happyEyeballsMilliseconds
        keepsConnections = configuration.maximumIdleConnections > 0 && maximumIdleSeconds > 0
        let context = Unmanaged.passUnretained(self).toOpaque()
        // To libcurl, 0 means no limit.
        _ = afar_multi_set_long(multi, CURLMOPT_MAXCONNECTS, max(1, configuration.maximumIdleConnections))
        _ = afar_multi_set_long(multi, CURLMOPT_PIPELINING, afar_multiplex())
        _ = afar_multi_set_socket_function(
            multi,
            { _, socket, what, context, _ in
                CurlPool.from(context)?.setInterest(Poller.events(for: what), of: socket)
                return 0
            }, context)
        _ = afar_multi_set_timer_function(
            multi,
            { _, milliseconds, context in
                CurlPool.from(context)?.deadline =
                    milliseconds < 0 ? nil : MonotonicClock.now + UInt64(milliseconds) * 1_000_000
                return 0
            }, context)
    }

    private static func from(_ context: UnsafeMutableRawPointer?) -> CurlPool? {
        context.map { Unmanaged<CurlPool>.fromOpaque($0).takeUnretainedValue() }
    }

    // MARK: Handles

    /// Creates a handle for one transfer. Returns nil if there is no memory left.
    func makeHandle() -> EasyHandle? {
        guard let handle = EasyHandle() else { return nil }
        handlesInUse += 1
        return handle
    }

    func add(_ handle: EasyHandle) -> CURLMcode {
        wasCalled = true
        return curl_multi_add_handle(multi, handle.raw)
    }

    /// Removes a handle from the multi handle, if it was added, and frees it.
    func release(_ handle: EasyHandle) {
        curl_multi_remove_handle(multi, handle.raw)
        handlesInUse -= 1
        handle.transfer = nil
        handle.close()
    }

    /// Detaches a handle from its transfer. ``releaseAbandoned(_:)`` frees the handle when its lookup or its response has ended.
    /// When a lookup ends, libcurl doesn't open a connection for the handle.
    func abandon(_ handle: EasyHandle) {
        handle.transfer = nil
        handle.clearTransfer()
        abandoned.append(handle)
    }

    /// Closes and returns the abandoned handle that libcurl has finished; nil if the handle isn't abandoned.
    func releaseAbandoned(_ easy: UnsafeMutableRawPointer) -> EasyHandle? {
        guard let index = abandoned.firstIndex(where: { $0.raw == easy }) else { return nil }
        let handle = abandoned.remove(at: index)
        release(handle)
        return handle
    }

    // MARK: Addresses in libcurl's cache

    /// Whether a transfer that isn't connected yet needs the addresses of a name.
    func isKept(_ name: String) -> Bool { keptNames[name] != nil }

    func keep(_ names: [String]) { for name in names { keptNames[name, default: 0] += 1 } }

    func releaseKept(_ names: [String]) {
        for name in names { keptNames[name] = keptNames[name].flatMap { $0 > 1 ? $0 - 1 : nil } }
    }

    // MARK: Options that need the pool

    func setShared(_ options: CurlOptions) throws(Fault) {
        let context = Unmanaged.passUnretained(self).toOpaque()
        try options.set(CURLOPT_SHARE, pointer: share)
        try options.set(CURLOPT_MAXAGE_CONN, maximumIdleSeconds)
        try options.set(CURLOPT_HAPPY_EYEBALLS_TIMEOUT_MS, happyEyeballsMilliseconds)
        if !keepsConnections { try options.set(CURLOPT_FORBID_REUSE, 1) }
        try options.check(
            afar_set_close_socket_function(
                options.easy,
                { context, socket in
                    CurlPool.from(context)?.didClose(socket)
                    return close(socket)
                }, context), CURLOPT_CLOSESOCKETFUNCTION)
    }

    // MARK: Sockets

    func didOpen(_ socket: Int32, for transfer: Transfer) {
        interests.reset(socket)
        connections.open(socket, to: transfer.plan.host, by: ObjectIdentifier(transfer))
    }

    private func didClose(_ socket: Int32) {
        if connections.isUnestablished(socket) { tryAddressesSoon() }
        socketsWithUnsolicitedData.remove(socket)
        unresponsive.remove(socket)
        interests.reset(socket)
        connections.close(socket)
    }

    private func setInterest(_ events: UInt32, of socket: Int32) {
        if events != 0, !socketsWithUnsolicitedData.isEmpty { socketsWithUnsolicitedData.remove(socket) }
        interests.setInterest(events, of: socket)
        // libcurl closes a lookup's socket without a callback, and the socket's number is reused. Stop watching the socket now,
        // because it can still become readable after another lookup has found the address.
        guard events == 0, !connections.contains(socket), let change = interests.removeUnwanted(socket) else { return }
        poller.apply(change, pool: number)
    }

    /// Records that the transfer on a socket has ended. libcurl can use the connection again.
    func didRelease(_ socket: Int32, by transfer: Transfer, at now: UInt64) {
        // libcurl may have closed the socket, and its number may have been reused.
        guard connections.release(socket, by: ObjectIdentifier(transfer), at: now), connections.isIdle(socket) else {
            return
        }
        if unresponsive.contains(socket) { return end([socket]) }
        justFreed.append(socket)
    }

    /// Records that a request on a connection timed out. The other requests of a shared connection continue, but the connection
    /// accepts no new requests.
    func didTimeOut(_ socket: Int32) {
        if connections.isShared(socket) { unresponsive.insert(socket) }
    }

    /// Whether an idle connection can't be used for the next request.
    ///
    /// - Parameter tls: The connection's TLS; nil without TLS.
    func isUnusable(_ socket: Int32, _ tls: TLSConnection?) -> Bool {
        unresponsive.contains(socket) || hasUnsolicitedData(socket, tls)
    }

    /// Records that a request uses a connection.
    ///
    /// - Parameters:
    ///   - isShared: Whether other requests can use the connection at the same time.
    ///   - tls: The connection's TLS; nil without TLS.
    func didAcquire(_ socket: Int32, by transfer: Transfer, isShared: Bool, tls: TLSConnection?) {
        connections.take(socket, by: ObjectIdentifier(transfer), isShared: isShared, tls: tls)
        if isShared, !CurlLibrary.shared.pausesStreams, watchdog == nil {
            watchdog = StreamWatchdog(at: MonotonicClock.now)
        }
    }

    /// Makes libcurl process the data in its buffers for shared connections in use.
    private func readStreams(at now: UInt64) {
        let sockets = connections.sharedInUse
        guard !sockets.isEmpty else {
            watchdog = nil
            return
        }
        watchdog?.note(at: now)
        wasCalled = true
        var running: Int32 = 0
        for socket in sockets { curl_multi_socket_action(multi, socket, CURL_CSELECT_IN, &running) }
    }

    /// When the oldest idle connection became idle; nil without idle connections.
    var oldestIdle: UInt64? { connections.idleCount > 0 ? connections.idle.lazy.map(\.since).min() : nil }

    /// Shuts down a number of connections, beginning with those that have been idle longest. Returns how many were shut down.
    func endIdle(_ count: Int) -> Int {
        let oldest = connections.idle.sorted { $0.since < $1.since }.prefix(count)
        end(oldest.map(\.socket))
        return oldest.count
    }

    /// Shuts connections down. libcurl closes them during the next ``sweep()``.
    private func end(_ sockets: some Sequence<Int32>) {
        for socket in sockets {
            shutdown(socket, Int32(SHUT_RDWR))
            connections.setUse(.ended, of: socket)
        }
    }

    /// Whether anything has arrived over an idle connection since its last transfer ended.
    ///
    /// Poll events cover most connections. The socket is read directly if the connection was freed after the last poll, or if the
    /// end of its last transfer hasn't been reported yet. OpenSSL is queried too, because bytes that it has read are no longer in
    /// the kernel.
    private func hasUnsolicitedData(_ socket: Int32, _ tls: TLSConnection?) -> Bool {
        // HTTP/2 frames identify their stream, so they can't be mistaken for the response to another request.
        guard !connections.isShared(socket) else { return false }
        guard !socketsWithUnsolicitedData.contains(socket) else { return true }
        let mustPeek = justFreed.contains(socket) || !connections.isIdle(socket)
        guard tls?.hasPendingData == true || mustPeek && !Self.hasNothingToRead(socket) else { return false }
        return tls?.hasUnsolicitedData(on: socket) ?? true
    }

    /// Whether only session tickets and key updates of TLS have arrived on an idle connection.
    private func hasOnlyTickets(_ socket: Int32) -> Bool {
        guard connections.isIdle(socket), !connections.isShared(socket) else { return false }
        return connections.tls(of: socket)?.hasUnsolicitedData(on: socket) == false
    }

    /// Whether a connection is open and has nothing to read: no bytes have arrived, and the peer hasn't closed it.
    private static func hasNothingToRead(_ socket: Int32) -> Bool {
        var byte: UInt8 = 0
        return recv(socket, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT)) < 0 && errno == EAGAIN
    }

    /// Returns the socket of a connection, or nil if no connection matches. libcurl's callback identifies the
    /// connection only by its addresses and ports.
    func socket(
        remoteAddress: UnsafePointer<CChar>?, remotePort: Int32, localPort: Int32, likely: Int32?
    ) -> Int32? {
        let address = remoteAddress.map { String(cString: $0) } ?? ""
        let name = "\(address) \(remotePort) \(localPort)"
        return connections.find(name, localPort: localPort, likely: likely)
    }

    /// Accepts no more transfers, and shuts down the connections that no running transfer uses.
    ///
    /// libcurl closes idle connections only during a sweep (at most once a second), or when the whole multi handle is closed. A
    /// long download can delay the end of the multi handle for hours. Shutting down the sockets notifies the peers immediately.
    func retire(running: [Transfer]) {
        isRetired = true
        let inUse = Set(running.compactMap(\.attempt.socket))
        end(connections.connected.map(\.socket).filter { !inUse.contains($0) && !interests.isWanted($0) })
        for case let handle? in running.map(\.attempt.handle) {
            _ = afar_set_long(handle.raw, CURLOPT_FORBID_REUSE, 1)
        }
    }

    // MARK: Events

    /// Registers the changed interests with the kernel. Call this method before each poll.
    func applyInterests() {
        interests.drain { poller.apply($0, pool: number) }
        justFreed.removeAll(keepingCapacity: true)
    }

    func socketIsReady(_ socket: Int32, bits: Int32) {
        guard interests.isRegistered(socket) else { return }
        // libcurl may have read the response since the event arrived.
        if bits == CURL_CSELECT_IN, !interests.isWanted(socket), Self.hasNothingToRead(socket) { return }
        guard interests.isWanted(socket) || !hasOnlyTickets(socket) else { return }
        if let change = interests.removeUnwanted(socket) {
            poller.apply(change, pool: number)
            // On a shared connection (HTTP/2), the data can be settings, which servers can send at any time. If the server has
            // closed the connection instead, libcurl detects it before the next request.
            guard !connections.isShared(socket) else { return }
            socketsWithUnsolicitedData.insert(socket)
            // The server has probably closed the connection. In any case, the connection can't be used.
            if connections.isIdle(socket) { end([socket]) }
            return
        }
        var running: Int32 = 0
        wasCalled = true
        curl_multi_socket_action(multi, socket, bits, &running)
        watchdog?.reset(at: MonotonicClock.now)
    }

    /// When ``runTimers(at:)`` must be called.
    var nextDeadline: UInt64 { min(deadline ?? .max, watchdog?.next ?? .max) }

    /// Calls libcurl if its timer has expired. Returns whether it was called.
    func runTimers(at now: UInt64) -> Bool {
        if watchdog?.isDue(at: now) == true { readStreams(at: now) }
        if mustTryAddresses { return tryAddresses() }
        guard let deadline, deadline <= now else { return false }
        self.deadline = nil
        wasCalled = true
        var running: Int32 = 0
        // −1 is libcurl's CURL_SOCKET_TIMEOUT.
        curl_multi_socket_action(multi, -1, 0, &running)
        return true
    }

    /// Makes ``runTimers(at:)`` run libcurl's transfers. Call this method if a socket was closed before it was connected, or if no
    /// socket was opened for an address, for example because a policy refused it. libcurl opens the socket for the next address
    /// only when it runs. Without this call, it would wait for half of the connect timeout.
    func tryAddressesSoon() { mustTryAddresses = true }

    private func tryAddresses() -> Bool {
        (mustTryAddresses, wasCalled) = (false, true)
        var running: Int32 = 0
        afar_multi_run_all(multi, &running)
        return true
    }

    /// Returns the next transfer that libcurl has finished, if any.
    func nextDone() -> (easy: UnsafeMutableRawPointer, code: CURLcode)? {
        guard wasCalled else { return nil }
        var code = CURLE_OK
        if let easy = afar_multi_next_done(multi, &code) { return (easy, code) }
        wasCalled = false
        return nil
    }

    /// Makes libcurl close the connections that were shut down or have been idle too long.
    ///
    /// libcurl looks for these connections only when a transfer begins, and at most once a second. Therefore, this method starts
    /// a transfer that fails before anything is sent.
    func sweep() {
        guard !isSweeping, let easy = sweeper ?? makeSweeper() else { return }
        sweeper = easy
        wasCalled = true
        isSweeping = curl_multi_add_handle(multi, easy) == CURLM_OK
    }

    private func makeSweeper() -> UnsafeMutableRawPointer? {
        guard let easy = curl_easy_init() else { return nil }
        let options = CurlOptions(easy: easy)
        do {
            try options.setRules()
            try options.set(CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1)
            try options.set(CURLOPT_URL, "http://127.0.0.1/")
            try options.set(CURLOPT_FRESH_CONNECT, 1)
            try options.set(CURLOPT_MAXAGE_CONN, maximumIdleSeconds)
            try options.check(
                afar_set_open_socket_function(easy, { _, _, _ in -1 }, nil), CURLOPT_OPENSOCKETFUNCTION)
            return easy
        } catch {
            curl_easy_cleanup(easy)
            return nil
        }
    }

    /// Records the end of the transfer that ``sweep()`` started. Returns false if the handle belongs to another transfer.
    func sweepEnded(_ easy: UnsafeMutableRawPointer) -> Bool {
        guard easy == sweeper else { return false }
        curl_multi_remove_handle(multi, easy)
        isSweeping = false
        return true
    }

    /// Closes all connections and handles. Call it only when no transfer is running.
    func shutDown() {
        for handle in abandoned { release(handle) }
        abandoned = []
        if let sweeper {
            if isSweeping { curl_multi_remove_handle(multi, sweeper) }
            curl_easy_cleanup(sweeper)
        }
        curl_multi_cleanup(multi)
        curl_share_cleanup(share)
        applyInterests()
    }
}
