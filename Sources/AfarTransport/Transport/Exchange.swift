import Foundation
public import HTTPTypes

/// One request, with everything that a transport needs to perform it.
///
/// The values in `request` have been validated. The method is a token, and no header value contains CR, LF or NUL. The scheme is `http` or
/// `https`, and the authority is an unambiguous host.
public struct Exchange: Sendable {
    @usableFromInline struct Values {
        @usableFromInline var request: HTTPRequest
        @usableFromInline var body: RequestBody
        @usableFromInline var delivery: ResponseDelivery
        @usableFromInline var options: ExchangeOptions
        @usableFromInline var control: ExchangeControl
        @usableFromInline var observer: (any ExchangeObserver)?
        @usableFromInline var decide: (@Sendable (ResponseHead) -> HeadDecision)?
        @usableFromInline var context: ExchangeContext
        @usableFromInline var fragment: String?
    }

    @usableFromInline final class Storage: @unchecked Sendable {
        // Sendable because the values change only while they have a single owner.
        @exclusivity(unchecked) @usableFromInline var values: Values

        @usableFromInline init(_ values: Values) { self.values = values }
    }

    /// Copies share the values until one of them changes, because the values contain dozens of references.
    @usableFromInline var storage: Storage

    @usableFromInline var values: Values {
        @inlinable _read { yield storage.values }
        @inlinable _modify {
            if !isKnownUniquelyReferenced(&storage) { storage = Storage(storage.values) }
            yield &storage.values
        }
    }

    /// The request's head. `scheme`, `authority` and `path` are set.
    public var request: HTTPRequest {
        @inlinable _read { yield values.request }
        @inlinable _modify { yield &values.request }
    }
    /// The request's body.
    public var body: RequestBody {
        @inlinable _read { yield values.body }
        @inlinable _modify { yield &values.body }
    }
    /// The destination of the response's body.
    public var delivery: ResponseDelivery {
        @inlinable _read { yield values.delivery }
        @inlinable _modify { yield &values.delivery }
    }
    /// Timeouts, limits and other rules.
    public var options: ExchangeOptions {
        @inlinable _read { yield values.options }
        @inlinable _modify { yield &values.options }
    }
    /// Suspends and resumes this exchange.
    public var control: ExchangeControl {
        @inlinable _read { yield values.control }
        @inlinable _modify { yield &values.control }
    }
    /// Observes the exchange while it runs; nil when there is no observer.
    public var observer: (any ExchangeObserver)? {
        @inlinable _read { yield values.observer }
        @inlinable _modify { yield &values.observer }
    }
    /// Decides what to do with a response when its head has arrived; nil accepts the response. Transports call
    /// ``headArrived(_:)``.
    ///
    /// This closure runs synchronously on the thread that reads from the network, so it is only for quick decisions by Afar itself. Never
    /// call user code in this closure. Return ``HeadDecision/deferred(_:)`` instead.
    public var decide: (@Sendable (ResponseHead) -> HeadDecision)? {
        @inlinable _read { yield values.decide }
        @inlinable _modify { yield &values.decide }
    }
    /// Values for transports that wrap another transport.
    public var context: ExchangeContext {
        @inlinable _read { yield values.context }
        @inlinable _modify { yield &values.context }
    }
    /// The percent-encoded fragment of the URL, without `#`; nil if the URL has none. It is never sent.
    public var fragment: String? {
        @inlinable _read { yield values.fragment }
        @inlinable _modify { yield &values.fragment }
    }

    /// Creates an exchange. Everything except the request has a default.
    public init(
        request: HTTPRequest,
        body: RequestBody = .none,
        delivery: ResponseDelivery = .collect(),
        options: ExchangeOptions = ExchangeOptions(),
        control: ExchangeControl = ExchangeControl(),
        observer: (any ExchangeObserver)? = nil,
        decide: (@Sendable (ResponseHead) -> HeadDecision)? = nil,
        context: ExchangeContext = ExchangeContext()
    ) {
        storage = Storage(
            Values(
                request: request, body: body, delivery: delivery, options: options, control: control,
                observer: observer, decide: decide, context: context))
    }

    /// Decides what to do with a response whose head has arrived.
    ///
    /// Transports call this method for each final response, after they notify the observer of the head and before they deliver
    /// any of the body. A transport that wraps another one, or that returns complete responses, doesn't need to call this
    /// method. The session then calls this method when the transport has returned the response.
    @discardableResult
    public func headArrived(_ head: ResponseHead) -> HeadDecision { decide?(head) ?? .take() }

    /// The name or address of the request's host in lowercase, without brackets and without a trailing dot.
    public var host: String { HostName(ofAuthority: request.authority ?? "").text }

    /// The port of the request's host. The default is 443 for `https` and 80 for `http`.
    public var port: Int {
        HostName.port(ofAuthority: request.authority ?? "") ?? (request.scheme == "https" ? 443 : 80)
    }

    /// The request's URL as text, without user information and fragment, for errors and logs.
    public var url: String {
        "\(request.scheme ?? "")://\(request.authority ?? "")\(request.path ?? "")"
    }

    /// The URL for the head of a response: ``url`` with the fragment (RFC 9110, section 10.2.2).
    public var responseURL: String { fragment.map { "\(url)#\($0)" } ?? url }

    /// How the transport authenticates the connection; nil if it doesn't. Also nil if the options were copied to an exchange with another
    /// origin, which must not receive the credential.
    package var connectionAuthentication: ConnectionAuthentication? {
        guard let authentication = options.connectionAuthentication, authentication.origin == Origin(request) else {
            return nil
        }
        return authentication
    }

    package func without(_ name: HTTPField.Name) -> Exchange {
        var copy = self
        copy.request.headerFields[name] = nil
        var fields = options.defaultFields.fields
        fields[name] = nil
        copy.options.defaultFields = DefaultFields(fields)
        return copy
    }

    /// Whether the body waits for `100 (Continue)` (RFC 9110, section 10.1.1).
    package var expects100Continue: Bool {
        guard !body.isNone else { return false }
        let fields = request.headerFields.contains(.expect) ? request.headerFields : options.defaultFields.fields
        return fields[.expect]?.asciiLowercased == "100-continue"
    }

    /// The features that this exchange requires of a transport.
    public var requiredFeatures: TransportCapabilities.Features {
        var requiredFeatures: TransportCapabilities.Features = []
        switch body {
        case .none, .data: break
        case .file: requiredFeatures.insert(.fileUpload)
        case .stream(let stream):
            requiredFeatures.insert(.streamedUpload)
            if stream.isDuplex { requiredFeatures.insert(.duplex) }
            if stream.trailers != nil { requiredFeatures.insert(.requestTrailers) }
        }
        switch delivery {
        case .collect: break
        case .file: requiredFeatures.insert(.fileDelivery)
        case .stream: requiredFeatures.insert(.streamedDelivery)
        case .connection: requiredFeatures.insert(.connections)
        }
        let usesHTTP1 = if case .connection = delivery { true } else { false }
        if options.protocolClasses != nil { requiredFeatures.insert(.protocolClasses) }
        if options.minimumTLSVersion > .v12 { requiredFeatures.insert(.minimumTLSVersion) }
        switch options.httpVersion {
        case _ where usesHTTP1: break
        case .automatic, .http1: break
        case .http2, .http2PriorKnowledge: requiredFeatures.insert(.http2)
        case .http3: requiredFeatures.insert(.http3)
        }
        if let network = options.networkBox { requiredFeatures.formUnion(network.requiredFeatures) }
        if options.connectionPolicy != nil { requiredFeatures.insert(.connectionPolicy) }
        if options.bandwidthLimiter != nil { requiredFeatures.insert(.suspension) }
        if let security = options.security {
            if security.evaluation != nil { requiredFeatures.insert(.serverTrust) }
            if security.identity != nil { requiredFeatures.insert(.clientIdentity) }
        }
        if connectionAuthentication != nil { requiredFeatures.insert(.connectionAuthentication) }
        if options.preconnectionLimit != nil { requiredFeatures.insert(.preconnections) }
        return requiredFeatures
    }
}

// MARK: - The Host field

extension Exchange {
    /// The host in the caller's `Host` field, in lowercase. Nil if there is no such field, or if it names the URL's own host.
    ///
    /// The field is part of the target URI (RFC 9110, section 7.1), so it can select a different site behind the same URL.
    package var otherHost: String? {
        let own = Self.hosts(request.headerFields)
        let hosts = own.isEmpty ? Self.hosts(options.defaultFields.fields) : own
        guard !hosts.isEmpty else { return nil }
        var other = request
        other.authority = hosts.joined(separator: ", ").trimmingCharacters(in: .whitespaces).asciiLowercased
        return Origin(other) == Origin(request) ? nil : other.authority
    }

    private static func hosts(_ fields: HTTPFields) -> [String] {
        fields.filter { $0.name.canonicalName == "host" }.map(\.value)
    }
}

// MARK: - Suspension

/// Suspends and resumes a running exchange.
///
/// After suspension, the transport stops reading and sending as soon as it can. An open connection stays open. If the transport is opening
/// a connection, it finishes opening the connection. While the exchange is suspended, its idle timer stops. The connect and total timers
/// continue. All methods can be called from any thread.
public final class ExchangeControl: Sendable {
    private struct State {
        var isSuspended = false
        var onChange: (@Sendable (Bool) -> Void)?
        /// The number of changes so far, and the last change that was reported to the transport. Comparing states would miss two changes
        /// that cancel each other out, but the transport can have read the state between these changes.
        var changeCount = 0
        var notifiedChangeCount = 0
        var isNotifying = false

        /// Returns the next update to report, if any. Only one thread reports at a time, so that updates keep their order.
        mutating func takeUpdate() -> (notify: @Sendable (Bool) -> Void, isSuspended: Bool)? {
            guard !isNotifying, let onChange, notifiedChangeCount != changeCount else { return nil }
            isNotifying = true
            notifiedChangeCount = changeCount
            return (onChange, isSuspended)
        }
    }

    private let state = InlineLocked(State())

    /// Creates a control that isn't suspended.
    public init() {}

    /// A Boolean value that indicates whether the exchange is suspended.
    public var isSuspended: Bool { state.withLock { $0.isSuspended } }

    /// Suspends the exchange.
    public func suspend() { change(to: true) }

    /// Resumes the exchange.
    public func resume() { change(to: false) }

    private func change(to isSuspended: Bool) {
        var update = state.withLock { state in
            if state.isSuspended != isSuspended { state.changeCount += 1 }
            state.isSuspended = isSuspended
            return state.takeUpdate()
        }
        while let (notify, isSuspended) = update {
            notify(isSuspended)
            update = state.withLock { state in
                state.isNotifying = false
                return state.takeUpdate()
            }
        }
    }

    /// For transports: sets the closure that is called with `true` on suspension and `false` on resumption, and replaces the
    /// previous one. Pass nil when the exchange has ended.
    ///
    /// The closure is called by one thread at a time, and its last call reports the final state.
    ///
    /// - Returns: Whether the exchange is already suspended.
    @discardableResult
    public func attach(_ onChange: (@Sendable (_ isSuspended: Bool) -> Void)?) -> Bool {
        // Keeps the previous closure alive until the lock is released. If `withLock` returned this closure, Swift would wrap it in another
        // one.
        var replaced: (@Sendable (Bool) -> Void)?
        defer { withExtendedLifetime(replaced) {} }
        return state.withLock { state in
            replaced = state.onChange
            state.onChange = onChange
            state.notifiedChangeCount = state.changeCount
            return state.isSuspended
        }
    }
}

// MARK: - Observers

/// A type that observes an exchange from inside the transport.
///
/// The methods are called synchronously, in order and one at a time, on the thread that reads from the network. They must be
/// quick and must never run a user's closure: record the event and return.
public protocol ExchangeObserver: AnyObject, Sendable {
    /// Called when an informational (1xx) response has arrived.
    func exchangeDidReceiveInformational(_ head: ResponseHead)
    /// Called when the final response's head has arrived.
    func exchangeDidReceiveHead(_ head: ResponseHead)
    /// Called when bytes of the request's body were sent, with the total so far and the expected total (nil if unknown).
    func exchangeDidSend(bytes: Int64, expected: Int64?)
    /// Called when decoded bytes of the response's body have arrived, with the total so far and the expected total. The expected total
    /// comes from `Content-Length`. It is nil if unknown, for example because the body has a content coding.
    func exchangeDidReceive(bytes: Int64, expected: Int64?)
    /// Called when a redirect is about to be followed. The head and body of its response are not reported.
    func exchangeWillFollow(_ redirect: Redirect)
    /// Called when a response requested credentials, and the request is about to be sent again with credentials. The rest of
    /// that response is not reported.
    func exchangeWillAnswerChallenge(in head: ResponseHead)
    /// Called when there is no network and the exchange waits for one (``SessionConfiguration/waitsForConnectivity``). Called
    /// once for each wait.
    func exchangeIsWaitingForConnectivity()
}

// swift-format-ignore: AllPublicDeclarationsHaveDocumentation
/// The default implementations ignore all events.
extension ExchangeObserver {
    public func exchangeDidReceiveInformational(_ head: ResponseHead) {}
    public func exchangeDidReceiveHead(_ head: ResponseHead) {}
    public func exchangeDidSend(bytes: Int64, expected: Int64?) {}
    public func exchangeDidReceive(bytes: Int64, expected: Int64?) {}
    public func exchangeWillFollow(_ redirect: Redirect) {}
    public func exchangeWillAnswerChallenge(in head: ResponseHead) {}
    public func exchangeIsWaitingForConnectivity() {}
}

// MARK: - Context

/// Typed values that accompany an exchange, for transports that wrap another transport.
///
/// ```swift
/// struct TenantKey: ExchangeContextKey {
///     static let defaultValue = "public"
/// }
/// exchange.context[TenantKey.self] = "blue"
/// ```
public struct ExchangeContext: Sendable {
    private var values: [ObjectIdentifier: any Sendable] = [:]

    /// Creates an empty context.
    public init() {}

    package var isEmpty: Bool { values.isEmpty }

    /// The value for a key, or the key's default value.
    public subscript<Key: ExchangeContextKey>(key: Key.Type) -> Key.Value {
        get {
            guard let value = values[ObjectIdentifier(key)] else { return Key.defaultValue }
            return value as? Key.Value ?? Key.defaultValue
        }
        set { values[ObjectIdentifier(key)] = newValue }
    }
}

/// The key and type of a value in an ``ExchangeContext``.
public protocol ExchangeContextKey {
    /// The type of the value.
    associatedtype Value: Sendable
    /// The value to use if none was set.
    static var defaultValue: Value { get }
}

// MARK: - Methods

extension HTTPRequest.Method {
    /// Whether the method is idempotent: sending a request twice has the same effect as once (RFC 9110, section 9.2.2).
    package var isIdempotent: Bool { Self.idempotent.contains(self) }

    private static let idempotent: Set<Self> = [.get, .head, .options, .trace, .put, .delete]

    /// Whether a request with this method has a `Content-Length: 0` if it has no content (RFC 9110, section 8.6).
    package var expectsContent: Bool { self == .post || self == .put || self == .patch }
}
