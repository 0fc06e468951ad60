public import HTTPTypes

/// One request on its way out, and all that a transport needs to know about it.
///
/// The values in `request` have been checked: the method is a token, no header value holds CR, LF or NUL, the scheme is
/// `http` or `https`, and the authority is a host that can be read in one way only.
public struct Exchange: Sendable {
    /// The request's head. `scheme`, `authority` and `path` are set.
    public var request: HTTPRequest
    /// The request's body.
    public var body: RequestBody
    /// Where the response's body goes.
    public var delivery: ResponseDelivery
    /// Timeouts, limits and other rules.
    public var options: ExchangeOptions
    /// Suspends and resumes this exchange.
    public var control: ExchangeControl
    /// Observes the exchange while it runs; nil when there is no observer.
    public var observer: (any ExchangeObserver)?
    /// Decides what is done with a response when its head has come; nil takes it. Transports call ``headArrived(_:)``.
    ///
    /// It runs synchronously wherever the transport reads the network, so it is for the framework's own quick
    /// decisions, never for a user's closure, for which there is ``HeadDecision/ask(_:)``.
    public var decide: (@Sendable (ResponseHead) -> HeadDecision)?
    /// Values for the transports around the transport.
    public var context: ExchangeContext
    /// The fragment of the URL, percent-encoded, without `#`; nil for a URL without one. It is never sent.
    public var fragment: String?

    /// Makes an exchange; everything but the request has a default.
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
        self.request = request
        self.body = body
        self.delivery = delivery
        self.options = options
        self.control = control
        self.observer = observer
        self.decide = decide
        self.context = context
    }

    /// For transports: what is to be done with a response whose head has come. To be called for each final response,
    /// after the observer was notified of its head and before any of its body is delivered.
    ///
    /// A transport that only wraps another need not call it, nor one that returns whole responses: then it is called when
    /// the response is returned.
    @discardableResult
    public func headArrived(_ head: ResponseHead) -> HeadDecision { decide?(head) ?? .take() }

    /// The request's URL as text, without userinfo and fragment; for errors and logs.
    public var url: String {
        "\(request.scheme ?? "")://\(request.authority ?? "")\(request.path ?? "")"
    }

    /// The URL for the head of a response: ``url`` with the fragment (RFC 9110, section 10.2.2).
    public var responseURL: String { fragment.map { "\(url)#\($0)" } ?? url }

    /// The features that this exchange requires of a transport.
    public var requiredFeatures: TransportCapabilities.Features {
        var requiredFeatures: TransportCapabilities.Features = []
        switch body {
        case .none, .data: break
        case .file: requiredFeatures.insert(.fileUpload)
        case .stream: requiredFeatures.insert(.streamedUpload)
        }
        switch delivery {
        case .collect: break
        case .file: requiredFeatures.insert(.fileDelivery)
        case .stream: requiredFeatures.insert(.streamedDelivery)
        case .connection: requiredFeatures.insert(.connections)
        }
        if options.protocolClasses != nil { requiredFeatures.insert(.protocolClasses) }
        if options.minimumTLSVersion > .v12 { requiredFeatures.insert(.minimumTLSVersion) }
        switch options.httpVersion {
        case .automatic, .http1: break
        case .http2, .http2PriorKnowledge: requiredFeatures.insert(.http2)
        case .http3: requiredFeatures.insert(.http3)
        }
        if options.networkBox != nil { requiredFeatures.insert(.networkSettings) }
        if let security = options.security {
            if security.evaluation != nil { requiredFeatures.insert(.serverTrust) }
            if security.identity != nil { requiredFeatures.insert(.clientIdentity) }
        }
        if options.connectionAuthentication != nil { requiredFeatures.insert(.connectionAuthentication) }
        return requiredFeatures
    }
}
