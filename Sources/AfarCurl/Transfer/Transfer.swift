import AfarHTTP1
import AfarTransport
import CLibcurl
import Foundation
import HTTPTypes
import Synchronization

/// One exchange over libcurl: prepared on the caller's thread, then owned by the thread of its loop.
final class Transfer: LoopExchange, @unchecked Sendable {
    // Sendable because only one thread uses it at a time: the caller's, then the loop's.

    /// How far the lookup of the host's name has progressed, if one is needed.
    enum Lookup: Equatable {
        case none
        /// Too many lookups are running. The transfer isn't added to libcurl while it waits.
        case waiting
        /// libcurl performs the lookup.
        case running(LookupLimiter<Transfer>.Number)
        /// The exchange's resolver performs the lookup. The transfer isn't added to libcurl while it waits.
        case resolving
    }

    /// The state of one attempt. An attempt begins when the transfer is added to libcurl. The next attempt has a new value.
    struct Attempt {
        /// Nil while the transfer isn't added to libcurl.
        var handle: EasyHandle?
        var pool: CurlPool?
        var start: Date?
        /// The socket that was opened last.
        var openedSocket: Int32?
        /// Why no socket could be opened.
        var socketError: Int32?
        /// The policy's first refusal, and the refused address.
        var refusal: (fault: Fault, address: SocketAddress?)?
        /// The socket of the connection, once it is established.
        var socket: Int32?
        /// Whether libcurl chose an existing connection that is unsuitable for the request.
        var mustStartOver = false
        /// The names that the pool keeps in libcurl's cache until the connection is established.
        var keptNames: [String] = []
        /// The entries that change libcurl's cache of addresses. libcurl doesn't copy this list.
        var cacheEntries: StringList?
        /// Whether other transfers use the connection at the same time.
        var isShared = false
        /// The settings that were negotiated in the TLS handshake; nil without TLS.
        var agreement: TLSAgreement?
        /// How the server ends the TLS connection; nil without TLS, and for HTTP/2, because each stream has its own end.
        var ending: TLSEnding?
    }

    /// The response to the request. If libcurl sends the request again, a new value replaces this one.
    struct Response: ~Copyable {
        var parser: ResponseParser
        var head: ResponseHead?
        /// The head of a 417 that refused an expectation, or of a 401 while libcurl authenticates.
        ///
        /// libcurl may send the request again without the expectation (RFC 9110, section 15.5.18), or with its next
        /// authentication message. In both cases, libcurl doesn't deliver this response's body. Only the next callback shows
        /// whether libcurl sends the request again.
        var refusal: ResponseHead?
        var headState = HeadState.none
        /// Holds the body while the decision is pending. Not used if the sink collects the body in memory.
        var held = GrowingBuffer()
        /// Nil if the body isn't decoded.
        var decoder: PieceDecoder?
        /// How many bytes of the next delivery have already been decoded. If a buffer isn't accepted as a whole, libcurl delivers it
        /// again, possibly in pieces of other sizes.
        var repeatedCount = 0
        /// The result of the transfer, if libcurl finished it before the decision about the head was made.
        var pendingResult: PendingResult?
    }

    let hop: Hop
    let plan: TransferPlan
    let loop: CurlLoop
    let observer: (any ExchangeObserver)?
    /// How libcurl authenticates the connection; nil if it doesn't.
    let authentication: ConnectionAuthentication?
    let started = Date()
    private let cancellation = Atomic(false)

    @exclusivity(unchecked) var completion: Completion?
    @exclusivity(unchecked) var stream: ResponseBodyStream?
    @exclusivity(unchecked) var owner: (any AnyObject & Sendable)?

    @exclusivity(unchecked) var index: Int?
    /// The host whose limit applies to the transfer; nil while the transfer doesn't count.
    @exclusivity(unchecked) var limitedBy: HostLimiter<Transfer>.Host?
    /// Whether the host limiter has admitted the transfer.
    @exclusivity(unchecked) var isAdmitted = false
    @exclusivity(unchecked) var lookup = Lookup.none
    /// The running lookups of the exchange's resolver, and when the first one was started.
    @exclusivity(unchecked) var lookups: TransferLookups?
    @exclusivity(unchecked) var lookupStart: Date?
    /// The entries that add the resolver's addresses to libcurl's cache; nil before they have been looked up.
    @exclusivity(unchecked) var cacheEntries: [String]?
    /// How often the resolver has been called, because libcurl's cache didn't have the addresses.
    @exclusivity(unchecked) var lookupCount = 0
    /// Whether gathered pieces of a streamed body wait until the loop delivers them.
    @exclusivity(unchecked) var isGathering = false
    /// The loop's last iteration in which a part of the body arrived, and when the first part in that iteration arrived.
    @exclusivity(unchecked) var timeSlice: (number: UInt64, start: UInt64) = (0, 0)
    /// Whether libcurl is delivering bytes that it stored during a pause.
    @exclusivity(unchecked) var isResuming = false

    @exclusivity(unchecked) var state: TransferState
    @exclusivity(unchecked) var attempt = Attempt()
    @exclusivity(unchecked) var response: Response
    @exclusivity(unchecked) var sink: BodySink
    @exclusivity(unchecked) var sendCount = 0
    @exclusivity(unchecked) var needsFreshConnection = false
    @exclusivity(unchecked) var headersWithoutExpectation: StringList?
    @exclusivity(unchecked) var feed: BodyFeed?
    /// Starts reading a streamed body. Called only when a connection is usable, because the body can be read only once.
    @exclusivity(unchecked) var startPump: (() -> Void)?
    /// When libcurl read the last bytes of the body from the feed.
    @exclusivity(unchecked) var bodyEnd: Date?

    init(_ hop: Hop, _ plan: consuming TransferPlan, loop: CurlLoop) {
        (self.hop, self.loop) = (hop, loop)
        observer = hop.observer
        authentication = hop.exchange.connectionAuthentication
        response = Self.response(to: hop)
        self.plan = plan
        state = TransferState(hop, now: MonotonicClock.now)
        sink = BodySink(hop.exchange.delivery)
    }

    private static func response(to hop: Hop) -> Response {
        var request = ResponseParser.Request(method: hop.exchange.request.method, url: hop.exchange.responseURL)
        request.allowsLaterVersions = true
        return Response(parser: ResponseParser(request, options: hop.exchange.options))
    }

    /// Prepares for another response after libcurl has sent the request again.
    func expectAnotherResponse() { response = Self.response(to: hop) }

    var exchange: Exchange { hop.exchange }

    /// A key for the connection limit: the host, its security requirements and its resolver. The limit applies to all transfers with the same
    /// key.
    ///
    /// A transfer counts while its resolver looks up the host. The resolver's own requests to the same host have another key, so
    /// they don't wait for the transfer.
    var limitedHost: String {
        let objects: [AnyObject?] = [hop.exchange.options.security, plan.route?.lookups?.resolver]
        return objects.compactMap(\.self).reduce(plan.host) { "\($0) \(UInt(bitPattern: ObjectIdentifier($1)))" }
    }

    static func of(_ easy: UnsafeMutableRawPointer) -> Transfer? {
        var context: UnsafeMutableRawPointer?
        guard afar_get_private(easy, &context) == CURLE_OK, let context else { return nil }
        return EasyHandle.from(context).transfer
    }

    var headState: HeadState {
        get { response.headState }
        set { response.headState = newValue }
    }

    func post(_ signal: ExchangeSignal) { loop.post(signal, of: self) }

    func cancel() {
        cancellation.store(true, ordering: .relaxed)
        post(.cancel)
    }

    var isCancelled: Bool { cancellation.load(ordering: .relaxed) }

    /// Ends reading the request's body.
    func closeFeed() {
        feed?.close()
        feed = nil
    }

    /// Releases the objects whose callbacks would otherwise retain the transfer.
    func release() {
        closeFeed()
        (startPump, stream) = (nil, nil)
        sink = BodySink(discarding: 0)
    }
}
