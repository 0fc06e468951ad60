public import HTTPTypes

/// One request, with everything that a transport needs to perform it.
///
/// The values in `request` have been validated: the method is a token, no header value contains CR, LF or NUL, the scheme is
/// `http` or `https`, and the authority is an unambiguous host.
public struct Exchange: Sendable {
    /// The request's head. `scheme`, `authority` and `path` are set.
    public var request: HTTPRequest
    /// The request's body.
    public var body: RequestBody
    /// The destination of the response's body.
    public var delivery: ResponseDelivery
    /// Timeouts, limits and other rules.
    public var options: ExchangeOptions
    /// Suspends and resumes this exchange.
    public var control: ExchangeControl
    /// Observes the exchange while it runs; nil when there is no observer.
    public var observer: (any ExchangeObserver)?
    /// Decides what to do with a response when its head has arrived; nil accepts the response. Transports call
    /// ``headArrived(_:)``.
    ///
    /// It runs synchronously on the thread that reads from the network, so it is meant for quick decisions by Afar itself. Never
    /// call a user's closure in it; return ``HeadDecision/ask(_:)`` instead.
    public var decide: (@Sendable (ResponseHead) -> HeadDecision)?
    /// Values for transports that wrap the transport.
    public var context: ExchangeContext
    /// The percent-encoded fragment of the URL, without `#`; nil if the URL has none. It is never sent.
    public var fragment: String?

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
        self.request = request
        self.body = body
        self.delivery = delivery
        self.options = options
        self.control = control
        self.observer = observer
        self.decide = decide
        self.context = context
    }

    /// Decides what to do with a response whose head has arrived.
    ///
    /// Transports call it for each final response, after they notify the observer of the head and before they deliver any of the
    /// body. A transport that wraps another, or that returns complete responses, doesn't need to call it: then it is called when
    /// the response is returned.
    @discardableResult
    public func headArrived(_ head: ResponseHead) -> HeadDecision { decide?(head) ?? .take() }

    /// The name or address of the request's host in lower case, without brackets and without a trailing dot.
    public var host: String { HostName(ofAuthority: request.authority ?? "").text }

    /// The port of the request's host. Without one in the URL, it is 443 for `https` and 80 for `http`.
    public var port: Int {
        HostName.port(ofAuthority: request.authority ?? "") ?? (request.scheme == "https" ? 443 : 80)
    }

    /// The request's URL as text, without user information and fragment, for errors and logs.
    public var url: String {
        "\(request.scheme ?? "")://\(request.authority ?? "")\(request.path ?? "")"
    }

    /// The URL for the head of a response: ``url`` with the fragment (RFC 9110, section 10.2.2).
    public var responseURL: String { fragment.map { "\(url)#\($0)" } ?? url }

    /// How the transport authenticates the connection; nil if it doesn't. Options that are copied to an exchange with another origin
    /// don't send the credential there.
    package var connectionAuthentication: ConnectionAuthentication? {
        guard let authentication = options.connectionAuthentication, authentication.origin == Origin(request) else {
            return nil
        }
        return authentication
    }

    /// A copy that doesn't require the server's consent before the body is sent (RFC 9110, section 10.1.1).
    package var withoutExpectation: Exchange {
        var copy = self
        copy.request.headerFields[.expect] = nil
        var fields = options.defaultFields.fields
        fields[.expect] = nil
        copy.options.defaultFields = DefaultFields(fields)
        return copy
    }

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
        let usesHTTP1 = if case .connection = delivery { true } else { false }
        if options.protocolClasses != nil { requiredFeatures.insert(.protocolClasses) }
        if options.minimumTLSVersion > .v12 { requiredFeatures.insert(.minimumTLSVersion) }
        switch options.httpVersion {
        case _ where usesHTTP1: break
        case .automatic, .http1: break
        case .http2, .http2PriorKnowledge: requiredFeatures.insert(.http2)
        case .http3: requiredFeatures.insert(.http3)
        }
        if options.networkBox != nil { requiredFeatures.insert(.networkSettings) }
        if let security = options.security {
            if security.evaluation != nil { requiredFeatures.insert(.serverTrust) }
            if security.identity != nil { requiredFeatures.insert(.clientIdentity) }
        }
        if connectionAuthentication != nil { requiredFeatures.insert(.connectionAuthentication) }
        return requiredFeatures
    }
}
