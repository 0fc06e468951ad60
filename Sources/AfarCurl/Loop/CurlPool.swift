import AfarTransport
import CLibcurl
import Foundation

/// One of libcurl's multi handles with its connections. All of it belongs to one loop's thread.
final class CurlPool {
    let number: UInt32
    private let multi: UnsafeMutableRawPointer
    private let share: CurlShare
    private let tls: TLSSettings
    /// What its connections are for.
    let purpose: CurlPools.Purpose
    /// Under what its connections are opened; nil where nothing beyond the defaults is required.
    let security: ConnectionSecurity?
    private let poller: Poller
    private let keepsConnections: Bool
    private let maximumIdleSeconds: Int
    @exclusivity(unchecked) private var interests = SocketInterests()
    @exclusivity(unchecked) private var connections = Connections()
    /// Sockets with unsolicited data: whose peer sent something, or closed, while no request was under way.
    @exclusivity(unchecked) private var socketsWithUnsolicitedData: Set<Int32> = []
    /// Sockets of shared connections that take no more requests, because one timed out there.
    @exclusivity(unchecked) private var unresponsive: Set<Int32> = []
    /// Sockets whose transfers have ended since the kernel was last asked.
    @exclusivity(unchecked) private var justFreed: [Int32] = []
    /// Handles whose transfers have gone and whose look-ups run on.
    @exclusivity(unchecked) private var abandoned: [EasyHandle] = []
    @exclusivity(unchecked) private var deadline: UInt64?
    @exclusivity(unchecked) private var watchdog: StreamWatchdog?
    /// Whether libcurl was called, so that transfers may have ended.
    @exclusivity(unchecked) private var wasCalled = false
    /// A handle without a transfer: see ``sweep()``.
    @exclusivity(unchecked) private var sweeper: UnsafeMutableRawPointer?
    @exclusivity(unchecked) private var isSweeping = false
    /// The handles that transfers have, or had until they abandoned them.
    @exclusivity(unchecked) private var handlesInUse = 0
    /// Whether nothing is under way here.
    var isUnused: Bool { handlesInUse == 0 }
    /// Set when new requests go to another pool; this one closes when its last transfer is over.
    @exclusivity(unchecked) private(set) var isRetired = false

    init?(
        number: UInt32, share: CurlShare, purpose: CurlPools.Purpose, security: ConnectionSecurity?, poller: Poller,
        configuration: CurlTransport.Configuration, tls: TLSSettings
    ) {
        guard let multi = curl_multi_init() else { return nil }
        self.number = number
        self.multi = multi
        self.share = share
        self.tls = tls
        self.purpose = purpose
        self.security = security
        self.poller = poller
        keepsConnections = configuration.maximumIdleConnections > 0 && configuration.maximumIdleSeconds > 0
        maximumIdleSeconds = configuration.maximumIdleSeconds
        let context = Unmanaged.passUnretained(self).toOpaque()
        // 0 would mean that there is no limit.
        _ = afar_multi_set_long(multi, CURLMOPT_MAXCONNECTS, max(1, configuration.maximumIdleConnections))
        _ = afar_multi_set_long(multi, CURLMOPT_PIPELINING, afar_multiplex())
        _ = afar_multi_set_socket_function(
            multi,
            { _, socket, what, context, _ in
                guard let context else { return 0 }
                let pool = Unmanaged<CurlPool>.fromOpaque(context).takeUnretainedValue()
                pool.want(Poller.events(for: what), of: socket)
                return 0
            }, context)
        _ = afar_multi_set_timer_function(
            multi,
            { _, milliseconds, context in
                guard let context else { return 0 }
                let pool = Unmanaged<CurlPool>.fromOpaque(context).takeUnretainedValue()
                pool.deadline =
                    milliseconds < 0 ? nil : MonotonicClock.now + UInt64(milliseconds) * 1_000_000
                return 0
            }, context)
    }

    // MARK: Handles

    /// Makes a handle for one transfer; nil when memory ran out.
    func makeHandle() -> EasyHandle? {
        guard let handle = EasyHandle() else { return nil }
        handlesInUse += 1
        return handle
    }

    func add(_ handle: EasyHandle) -> CURLMcode {
        wasCalled = true
        return curl_multi_add_handle(multi, handle.raw)
    }

    /// Takes a handle away from libcurl, if it was added, and frees it.
    func release(_ handle: EasyHandle) {
        curl_multi_remove_handle(multi, handle.raw)
        handlesInUse -= 1
        handle.transfer = nil
        handle.close()
    }

    /// Leaves a handle to libcurl until the look-up is over that it is at, or the response: ``abandonedEnded(_:)``. No connection is
    /// made then.
    func abandon(_ handle: EasyHandle) {
        handle.transfer = nil
        handle.forgetTransfer()
        abandoned.append(handle)
    }

    /// libcurl is done with a handle that no transfer has any more. Returns it, closed, if it was an abandoned one.
    func abandonedEnded(_ easy: UnsafeMutableRawPointer) -> EasyHandle? {
        guard let index = abandoned.firstIndex(where: { $0.raw == easy }) else { return nil }
        let handle = abandoned.remove(at: index)
        release(handle)
        return handle
    }

    // MARK: Options that need the pool

    func setShared(_ options: CurlOptions) throws(CurlOptions.Failure) {
        let context = Unmanaged.passUnretained(self).toOpaque()
        try options.set(CURLOPT_SHARE, pointer: share.raw)
        try options.set(CURLOPT_MAXAGE_CONN, maximumIdleSeconds)
        if !keepsConnections { try options.set(CURLOPT_FORBID_REUSE, 1) }
        try options.check(
            afar_set_close_socket_function(
                options.easy,
                { context, socket in
                    if let context { Unmanaged<CurlPool>.fromOpaque(context).takeUnretainedValue().closes(socket) }
                    return close(socket)
                }, context), CURLOPT_CLOSESOCKETFUNCTION)
    }

    func setSecurity(
        _ handle: EasyHandle, _ minimumVersion: ExchangeOptions.TLSVersion
    ) throws(CurlOptions.Failure) {
        try tls.apply(to: handle, minimumVersion, security)
    }

    func setRoute(_ route: ConnectionRoute, _ options: CurlOptions) throws(CurlOptions.Failure) {
        try route.apply(to: options, tls.authorities.file?.path)
    }

    /// The certificates that are trusted.
    var authorities: CertificateAuthorities { tls.authorities }

    // MARK: Sockets

    /// A socket has been opened for a transfer.
    func opened(_ socket: Int32, for transfer: Transfer) {
        interests.forget(socket)
        connections.open(socket, to: transfer.plan.host, by: ObjectIdentifier(transfer))
    }

    private func closes(_ socket: Int32) {
        socketsWithUnsolicitedData.remove(socket)
        unresponsive.remove(socket)
        interests.forget(socket)
        connections.close(socket)
    }

    private func want(_ events: UInt32, of socket: Int32) {
        if events != 0, !socketsWithUnsolicitedData.isEmpty { socketsWithUnsolicitedData.remove(socket) }
        interests.want(events, of: socket)
        // A look-up's own socket is closed without a word, and its number comes back. Not always at once: it may still become
        // readable, when the address was found by another look-up meanwhile.
        guard events == 0, !connections.contains(socket), let change = interests.dismiss(socket) else { return }
        poller.apply(change, pool: number)
    }

    /// The transfer on a socket has ended; libcurl may use its connection again.
    func freed(_ socket: Int32, by transfer: Transfer, at now: UInt64) {
        // libcurl may have closed it, and another transfer may have opened one of that number.
        guard connections.release(socket, by: ObjectIdentifier(transfer), at: now), connections.isIdle(socket) else {
            return
        }
        if unresponsive.contains(socket) { return end([socket]) }
        justFreed.append(socket)
    }

    /// A request on a connection has timed out. Requests that share the connection continue, but it takes no more.
    func timedOut(_ socket: Int32) {
        if connections.isShared(socket) { unresponsive.insert(socket) }
    }

    /// Whether a connection was shut down, so that libcurl has yet to close it.
    func hasEnded(_ socket: Int32) -> Bool { connections.hasEnded(socket) }

    /// Whether the next request may not go out on a kept connection.
    ///
    /// - Parameter tls: The connection's TLS; nil without.
    func isUnfit(_ socket: Int32, _ tls: TLSConnection?) -> Bool {
        unresponsive.contains(socket) || hasUnsolicitedData(socket, tls)
    }

    /// A request goes out on a connection.
    ///
    /// - Parameters:
    ///   - isShared: Whether others may use it at the same time.
    ///   - tls: The connection's TLS; nil without.
    func taken(_ socket: Int32, by transfer: Transfer, isShared: Bool, tls: TLSConnection?) {
        connections.take(socket, by: ObjectIdentifier(transfer), isShared: isShared, tls: tls)
        if isShared, !CurlLibrary.shared.pausesStreams, watchdog == nil {
            watchdog = StreamWatchdog(at: MonotonicClock.now)
        }
    }

    /// Has libcurl look for what it has in its buffers, on the connections that are shared and in use.
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

    /// How many connections are kept without a request.
    var idleCount: Int { connections.idleCount }

    /// Since when the one of them is kept that is kept longest.
    var oldestIdle: UInt64? { connections.idleCount > 0 ? connections.idle.lazy.map(\.since).min() : nil }

    /// Whether connections have ended that libcurl has yet to close.
    var hasEnded: Bool { connections.endedCount > 0 }

    var isEmpty: Bool { connections.isEmpty }

    /// All connections that have not ended: their hosts, and whether they are idle.
    var connected: [(socket: Int32, host: String, isIdle: Bool)] { connections.connected }

    /// Ends so many of the connections without a request, those that are kept longest. Returns how many there were.
    func endIdle(_ count: Int) -> Int {
        let oldest = connections.idle.sorted { $0.since < $1.since }.prefix(count)
        end(oldest.map(\.socket))
        return oldest.count
    }

    /// Shuts connections down. libcurl closes them when it next looks for such: ``sweep()``.
    private func end(_ sockets: some Sequence<Int32>) {
        for socket in sockets {
            shutdown(socket, Int32(SHUT_RDWR))
            connections.setUse(.ended, of: socket)
        }
    }

    /// Whether anything has come over a kept connection since its last transfer ended. The kernel tells, except of a
    /// connection that was freed after it was last asked, or of whose last transfer's end is yet to be heard: there it is
    /// asked now. Bytes that OpenSSL has read are no longer in the kernel.
    private func hasUnsolicitedData(_ socket: Int32, _ tls: TLSConnection?) -> Bool {
        // The frames of HTTP/2 say what they belong to.
        guard !connections.isShared(socket) else { return false }
        guard !socketsWithUnsolicitedData.contains(socket) else { return true }
        let mustAsk = justFreed.contains(socket) || !connections.isIdle(socket)
        guard tls?.hasPendingData == true || mustAsk && !Self.hasNothingToRead(socket) else { return false }
        return tls?.hasUnsolicitedData(on: socket) ?? true
    }

    /// Whether only session tickets and key updates of TLS have arrived on an idle connection.
    private func hasOnlyTickets(_ socket: Int32) -> Bool {
        guard connections.isIdle(socket), !connections.isShared(socket) else { return false }
        return connections.tls(of: socket)?.hasUnsolicitedData(on: socket) == false
    }

    /// Whether a connection stands, and no byte and no end has come over it.
    private static func hasNothingToRead(_ socket: Int32) -> Bool {
        var byte: UInt8 = 0
        return recv(socket, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT)) < 0 && errno == EAGAIN
    }

    /// The socket of a connection that libcurl describes.
    func socket(
        remoteAddress: UnsafePointer<CChar>?, remotePort: Int32, localPort: Int32, likely: Int32?
    ) -> Int32? {
        let name = Connections.Name(remoteAddress: remoteAddress, remotePort: remotePort, localPort: localPort)
        return connections.find(name, localPort: localPort, likely: likely)
    }

    /// Takes no more transfers, and ends the connections that none of the running ones uses.
    ///
    /// libcurl closes idle connections only together with the rest, which a long download can put off for hours, or at a
    /// sweep, of which there is one a second at most. So the peer is told at once.
    func retire(running: [Transfer]) {
        isRetired = true
        let inUse = Set(running.compactMap(\.attempt.socket))
        end(connections.connected.map(\.socket).filter { !inUse.contains($0) && !interests.isWanted($0) })
        for case let handle? in running.map(\.attempt.handle) {
            _ = afar_set_long(handle.raw, CURLOPT_FORBID_REUSE, 1)
        }
    }

    // MARK: Events

    /// Tells the kernel which sockets to watch, before it is asked.
    func applyInterests() {
        interests.drain { poller.apply($0, pool: number) }
        justFreed.removeAll(keepingCapacity: true)
    }

    func socketIsReady(_ socket: Int32, bits: Int32) {
        guard interests.isWatched(socket) else { return }
        // libcurl may have read the answer since the kernel told of it.
        if bits == CURL_CSELECT_IN, !interests.isWanted(socket), Self.hasNothingToRead(socket) { return }
        guard interests.isWanted(socket) || !hasOnlyTickets(socket) else { return }
        if let change = interests.dismiss(socket) {
            poller.apply(change, pool: number)
            // A server may have settings to tell at any time. If it has closed, libcurl sees that before the next request.
            guard !connections.isShared(socket) else { return }
            socketsWithUnsolicitedData.insert(socket)
            // Most likely the server has closed it. In any case nobody is going to use it any more.
            if connections.isIdle(socket) { end([socket]) }
            return
        }
        var running: Int32 = 0
        wasCalled = true
        curl_multi_socket_action(multi, socket, bits, &running)
        watchdog?.reset(at: MonotonicClock.now)
    }

    /// When libcurl wants to be called next.
    var nextDeadline: UInt64 { min(deadline ?? .max, watchdog?.next ?? .max) }

    /// Calls libcurl when its time has come. Returns whether it was called.
    func runTimers(at now: UInt64) -> Bool {
        if watchdog?.isDue(at: now) == true { readStreams(at: now) }
        guard let deadline, deadline <= now else { return false }
        self.deadline = nil
        wasCalled = true
        var running: Int32 = 0
        // −1 is libcurl's CURL_SOCKET_TIMEOUT.
        curl_multi_socket_action(multi, -1, 0, &running)
        return true
    }

    /// The next transfer that has ended.
    func nextDone() -> (easy: UnsafeMutableRawPointer, code: CURLcode)? {
        guard wasCalled else { return nil }
        var code = CURLE_OK
        if let easy = afar_multi_next_done(multi, &code) { return (easy, code) }
        wasCalled = false
        return nil
    }

    /// Lets libcurl close the connections that have ended or were kept too long. It looks for those when a transfer begins,
    /// at most once a second, and there is no other way to ask it: so one begins that fails before anything is sent.
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

    /// libcurl is done with a handle that no transfer has. Returns whether that was the sweeper.
    func sweepEnded(_ easy: UnsafeMutableRawPointer) -> Bool {
        guard easy == sweeper else { return false }
        curl_multi_remove_handle(multi, easy)
        isSweeping = false
        return true
    }

    /// Closes everything. No transfer may be running.
    func shutDown() {
        for handle in abandoned { release(handle) }
        abandoned = []
        if let sweeper {
            if isSweeping { curl_multi_remove_handle(multi, sweeper) }
            curl_easy_cleanup(sweeper)
        }
        curl_multi_cleanup(multi)
        applyInterests()
    }
}
