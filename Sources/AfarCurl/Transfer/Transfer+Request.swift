import AfarTransport
import CLibcurl
import Foundation
import HTTPTypes

/// The request: its options, its connection, its body, and sending it again.
extension Transfer {
    private static let largeBuffer = 512 * 1024
    /// The buffer size for bodies that can be refused in part. libcurl stores the refused bytes, and copies them again after each
    /// refusal.
    private static let smallBuffer = 56 * 1024
    /// The maximum number of requests for one authentication. Kerberos needs one or two, and NTLM needs two.
    private static let authenticationLimit = 8

    func configure(_ handle: EasyHandle, pool: CurlPool) throws(Fault) {
        let options = CurlOptions(easy: handle.raw)
        handle.transfer = self
        let body = try sendableBody()
        try options.set(CURLOPT_PRIVATE, pointer: handle.context)
        try options.set(CURLOPT_ERRORBUFFER, pointer: UnsafeMutableRawPointer(handle.errorText))
        try options.setRules()
        try options.set(CURLOPT_URL, plan.url)
        try options.check(afar_set_header_list(handle.raw, plan.headers.first), CURLOPT_HTTPHEADER)
        try options.set(CURLOPT_HTTP_VERSION, plan.version.option)
        if plan.version.isShared { try options.set(CURLOPT_PIPEWAIT, 1) }
        try pool.setShared(options)
        if let lookups = plan.route?.lookups {
            let entries = StringList(cacheEntries ?? lookups.removals(except: pool.isKept))
            attempt.cacheEntries = entries
            if cacheEntries != nil {
                attempt.keptNames = lookups.cacheKeys
                pool.keep(attempt.keptNames)
            }
            try options.set(CURLOPT_RESOLVE, entries)
        }
        if needsFreshConnection { try options.set(CURLOPT_FRESH_CONNECT, 1) }
        if plan.version == .http2Alone {
            try options.set(CURLOPT_FRESH_CONNECT, 1)
            try options.set(CURLOPT_FORBID_REUSE, 1)
        }
        if plan.isSecure { try pool.tls.apply(to: handle, exchange.options.minimumTLSVersion, pool.security) }
        try plan.route?.apply(to: options, pool.tls.authorities.file?.path)
        // libcurl divides this time among the addresses. The loop's own timeout must expire first. Otherwise, the limiter
        // wouldn't count a lookup that continues after the transfer has ended.
        try options.set(
            CURLOPT_CONNECTTIMEOUT_MS,
            Int(clamping: Int64(max(0.001, exchange.options.connectTimeout.clamped) * 1000)) + 1_000)
        try options.setMethod(plan.method, hasBody: !body.isNone)
        try Self.setCallbacks(options, of: handle)
        if exchange.context[SentHeadReceiver.self] != nil { try Self.setHeadCallback(options, of: handle) }
        if case .collect = exchange.delivery {
        } else {
            try options.set(CURLOPT_BUFFERSIZE, sink.canBeFull ? Self.smallBuffer : Self.largeBuffer)
        }
        if let feed {
            try Self.setBodyCallbacks(options, of: handle)
            try options.set(CURLOPT_UPLOAD_BUFFERSIZE, Self.largeBuffer)
            try options.setBodyLength(feed.length)
        } else if case .data(let data) = body {
            try options.setBody(data)
        }
        if let authentication { try options.setAuthentication(authentication) }
    }

    /// Returns the body to send. If libcurl reads the body later, this method also opens it and stores it in `feed`.
    private func sendableBody() throws(Fault) -> RequestBody {
        // The plan permits only an empty body for HEAD.
        guard plan.method != .head else { return .none }
        guard feed == nil else { return exchange.body }
        switch exchange.body {
        case .none: break
        case .data(let data): if data.count > 64 * 1024 { feed = BodyFeed(data: data) }
        case .file(let url): feed = try BodyFeed(file: url)
        case .stream(let stream):
            let pump = BodyPump { self.post(.bodyReady) }
            feed = BodyFeed(pump: pump, length: stream.length)
            startPump = { pump.start(stream) }
        }
        return exchange.body
    }

    // MARK: The connection

    /// Opens a socket to an address of the host. Returns −1 if that fails.
    func openSocket(to address: UnsafePointer<curl_sockaddr>) -> Int32 {
        loop.lookupEnded(self)
        guard permits(SocketAddress(copying: afar_socket_address(address), length: address.pointee.addrlen)) else {
            attempt.pool?.tryAddressesSoon()
            return -1
        }
        let socket = afar_socket_cloexec(address)
        let isTCP = address.pointee.protocol == Int32(IPPROTO_TCP)
        let code = socket < 0 ? errno : isTCP ? plan.route?.prepare(socket) ?? 0 : 0
        attempt.socketError = code == 0 ? nil : code
        guard code == 0 else {
            if socket >= 0 { close(socket) }
            attempt.pool?.tryAddressesSoon()
            return -1
        }
        attempt.openedSocket = socket
        attempt.pool?.didOpen(socket, for: self)
        return socket
    }

    /// Prepares for lookups by the resolver while the transfer isn't added to libcurl. If the request was already sent, also
    /// prepares to send it again (see ``canBeSent()``).
    func prepareForLookups(at now: UInt64) throws(Fault) {
        lookupCount += 1
        guard lookupCount <= Self.lookupLimit else {
            throw Fault(.cannotFindHost, "libcurl didn't use the addresses of the resolver \(plan.resolverName)")
        }
        if lookupStart == nil { lookupStart = Date() }
        guard sendCount > 0 else { return }
        guard feed.map({ $0.byteCount == 0 || $0.seek(to: 0) }) ?? true else {
            throw Fault(
                .connectionLost, "the connection closed after a part of the body was sent, which can't be sent again")
        }
        lookupStart = Date()
        state.reconnect()
        state.admit(at: now)
    }

    /// The maximum number of times that the resolver is called for a transfer. Addresses can disappear from libcurl's cache before they are
    /// used, and libcurl sends a request again up to five times.
    private static let lookupLimit = 8

    /// Returns whether the policy permits a connection, and records a refusal.
    private func permits(_ address: SocketAddress?) -> Bool {
        guard let policy = plan.policy else { return true }
        let candidate = ConnectionCandidate(
            isSecure: plan.isSecure, host: exchange.host, port: exchange.port, unixSocket: plan.route?.unixSocket,
            proxy: plan.route?.proxy, target: plan.route?.target ?? (exchange.host, exchange.port), address: address)
        guard let refusal = policy.refusal(of: candidate) else { return true }
        if attempt.refusal == nil { attempt.refusal = (refusal, address) }
        return false
    }

    /// Returns whether the policy permits the request on a reused connection. libcurl uses a connection to a proxy for any host.
    private func permitsReuse(of socket: Int32?) -> Bool {
        guard plan.policy != nil, plan.route?.proxy != nil else { return true }
        guard permits(socket.flatMap { SocketAddress(peerOf: $0) }) else {
            attempt.refusal.map { state.fail($0.fault) }
            return false
        }
        return true
    }

    /// Decides, just before the request is sent, whether the connection that libcurl has chosen can be used.
    ///
    /// libcurl would mistake unsolicited bytes on a reused connection for the response to this request.
    func canUseConnection(on socket: Int32?) -> Bool {
        attempt.socket = socket
        let (handle, pool) = (attempt.handle, attempt.pool)
        let connection = plan.isSecure ? handle.flatMap { TLSConnection($0) } : nil
        let isShared = connection?.usesHTTP2 ?? (plan.version == .http2)
        let isReused = handle?.long(CURLINFO_NUM_CONNECTS) == 0
        let hasWrongVersion = plan.version == .http2 && !isShared
        if let socket, let handle, !needsFreshConnection, isReused,
            hasWrongVersion || pool?.isUnusable(socket, connection) == true
        {
            attempt.mustStartOver = true
            _ = afar_set_long(handle.raw, CURLOPT_FORBID_REUSE, 1)
            return false
        }
        attempt.agreement = connection?.agreement
        guard !isReused || permitsReuse(of: socket), isTrusted(connection), canBeSent() else { return false }
        if hasWrongVersion {
            state.fail(Fault(.secureConnectionFailed, "the server did not agree to HTTP/2, which the request requires"))
            return false
        }
        if plan.version == .negotiated, !isReused { loop.didNegotiate(usesHTTP2: isShared, for: self) }
        if let socket { pool?.didAcquire(socket, by: self, isShared: isShared, tls: connection) }
        attempt.isShared = isShared
        attempt.ending = isShared ? nil : (connection ?? proxyConnection)?.ending
        sendCount += 1
        startPump.take()?()
        connectionEstablished()
        return true
    }

    /// The TLS connection to a proxy, for a request without TLS.
    private var proxyConnection: TLSConnection? {
        plan.route?.proxy?.kind == .https ? attempt.handle.flatMap { TLSConnection($0) } : nil
    }

    /// Whether the session has no evaluator, or the evaluator accepts the server's certificates. Otherwise, the transfer fails.
    private func isTrusted(_ connection: TLSConnection?) -> Bool {
        guard let security = attempt.pool?.security, security.evaluation != nil else { return true }
        guard let connection else {
            state.fail(Fault(.secureConnectionFailed, "the server's certificates are not available"))
            return false
        }
        guard !connection.isTrusted(under: security) else { return true }
        let chain = connection.presentedChain
        guard security.accepts(chain) else {
            state.fail(undecided(chain))
            return false
        }
        connection.setTrusted(under: security)
        return true
    }

    /// The fault to report if ``Handshake`` ended the handshake when the server requested the client's identity; otherwise nil.
    var handshakeFault: Fault? { attempt.handle?.handshake?.undecided.map { undecided($0.chain) } }

    private func undecided(_ chain: PresentedChain) -> Fault {
        Fault(
            .certificateUntrusted, "the server's certificates have not been evaluated",
            underlying: attempt.pool.map { UndecidedTrust(chain, authorities: $0.tls.authorities) })
    }

    /// Permits other transfers to remove this transfer's addresses from libcurl's cache.
    func releaseKeptNames() { attempt.pool?.releaseKept(Swift.exchange(&attempt.keptNames, with: [])) }

    func connectionEstablished() {
        loop.lookupEnded(self)
        releaseKeptNames()
        guard state.connect(at: loop.now) else { return }
        loop.noteDeadline(of: self)
        // libcurl can't be paused inside its own callback.
        if state.isSuspended { post(.suspensionChanged) }
    }

    // MARK: Sending again

    /// Whether the request can be sent. If a reused connection was closed without a response, libcurl sends the request again, even
    /// if the server may have processed the request (RFC 9110, section 9.2.2).
    private func canBeSent() -> Bool {
        if let refusal = response.refusal {
            return refusal.status == 401 ? continueAuthentication() : dropExpectation()
        }
        guard sendCount == 0 || plan.method.isIdempotent && response.head == nil else {
            state.fail(
                Fault(
                    .connectionLost,
                    "the connection closed before the response arrived; the server may have processed the request"))
            return false
        }
        return true
    }

    /// libcurl responds to a 401 with the next authentication message.
    private func continueAuthentication() -> Bool {
        guard sendCount < Self.authenticationLimit else {
            state.fail(
                Fault(
                    .malformedResponse,
                    "the server asked for more than \(Self.authenticationLimit) messages to authenticate one connection"
                ))
            return false
        }
        expectAnotherResponse()
        return true
    }

    /// Prepares to send the request again without its `Expect` field. libcurl itself keeps this field if the caller has set it,
    /// and doesn't always rewind the body.
    private func dropExpectation() -> Bool {
        guard let handle = attempt.handle, feed.map({ $0.byteCount == 0 || $0.seek(to: 0) }) ?? true else {
            state.fail(
                Fault(
                    .requestBodyFailed,
                    "the server refused \"Expect\" (417) after a part of the body was sent, which can't be sent again"
                ))
            return false
        }
        expectAnotherResponse()
        headersWithoutExpectation = plan.headers(for: Hop(exchange.without(.expect)))
        return afar_set_header_list(handle.raw, headersWithoutExpectation?.first) == CURLE_OK
    }

    // MARK: The body

    /// Returns the number of bytes that were copied to libcurl's buffer, or nil if none are ready.
    func send(into buffer: UnsafeMutableRawBufferPointer) throws(Fault) -> Int? {
        guard let feed else { return 0 }
        guard !state.isSuspended, case .bytes(let count) = try feed.read(into: buffer) else {
            if !state.isSuspended { state.isSendingPaused = true }
            state.pauseDidChange(at: loop.now)
            return nil
        }
        if count == 0 || feed.byteCount == feed.length { bodyEnd = Date() }
        state.noteActivity(of: count, at: loop.now)
        observer?.exchangeDidSend(bytes: feed.byteCount, expected: feed.length)
        return count
    }

    /// The number of bytes of the request's body that libcurl has read.
    var sentBodyByteCount: Int64 {
        if let feed { return feed.byteCount }
        guard sendCount > 0, case .data(let data) = exchange.body else { return 0 }
        return Int64(data.count)
    }

    /// Reports a small body as sent when the response arrives. The body is sent with the head.
    func reportSmallBody() {
        guard feed == nil, let observer, case .data(let data) = exchange.body else { return }
        observer.exchangeDidSend(bytes: Int64(data.count), expected: Int64(data.count))
    }
}

extension CurlOptions {
    /// Makes libcurl authenticate with one scheme, on a connection that serves no other request.
    ///
    /// Despite these options, libcurl leaves the connection open between the authentication messages, and closes it after the
    /// last response.
    fileprivate func setAuthentication(_ authentication: ConnectionAuthentication) throws(Fault) {
        let scheme =
            switch authentication.scheme {
            case .negotiate: afar_auth_negotiate()
            case .ntlm: afar_auth_ntlm()
            }
        try set(CURLOPT_HTTPAUTH, scheme)
        try set(CURLOPT_USERNAME, authentication.user)
        try set(CURLOPT_PASSWORD, authentication.password)
        try set(CURLOPT_FRESH_CONNECT, 1)
        try set(CURLOPT_FORBID_REUSE, 1)
    }
}

extension TimeInterval {
    /// The time, limited to the number of milliseconds that a 32-bit C `long` can hold. NaN means no limit, as elsewhere.
    fileprivate var clamped: TimeInterval { self < 2_000_000 ? self : 2_000_000 }
}
