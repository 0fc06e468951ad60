public import Foundation
import HTTPTypes

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension Request {
    // Methods without `redactingSecrets:` stand for themselves: a default argument satisfies no protocol's requirement.

    /// The command line that makes curl send ``lastRequest``, for a POSIX shell: complete, with what the session adds to
    /// each request, and with all secrets.
    ///
    /// A body from a file is read from there, a body from a stream from the command's standard input. Where there is
    /// nothing to send, the text is a comment, which a shell ignores.
    public func cURLDescription() -> String { cURLDescription(redactingSecrets: false) }

    /// The command line that makes curl send ``lastRequest``, for a POSIX shell: complete, with what the session adds to
    /// each request.
    ///
    /// A body from a file is read from there, a body from a stream from the command's standard input. Where there is
    /// nothing to send, the text is a comment, which a shell ignores.
    ///
    /// - Parameter redactingSecrets: Whether passwords, tokens and cookies are hidden behind `***`; the command is then not
    ///   complete.
    public func cURLDescription(redactingSecrets: Bool) -> String {
        cURLDescription(of: lastRequest, redactingSecrets: redactingSecrets)
    }

    /// Calls a closure with the command line for curl on the session's ``Session/rootQueue``, once: as soon as a
    /// `URLRequest` has been made for sending, or when the request has ended without one. All closures are called.
    ///
    /// - Parameter handler: Called with what ``cURLDescription()`` returns.
    @preconcurrency
    @discardableResult
    public func cURLDescription(calling handler: @escaping @Sendable (String) -> Void) -> Self {
        cURLDescription(on: session.queues.root, redactingSecrets: false, calling: handler)
    }

    /// Calls a closure with the command line for curl on the session's ``Session/rootQueue``, once: as soon as a
    /// `URLRequest` has been made for sending, or when the request has ended without one. All closures are called.
    ///
    /// - Parameters:
    ///   - redactingSecrets: Whether passwords, tokens and cookies are hidden behind `***`.
    ///   - handler: Called with what ``cURLDescription(redactingSecrets:)`` returns.
    @preconcurrency
    @discardableResult
    public func cURLDescription(
        redactingSecrets: Bool, calling handler: @escaping @Sendable (String) -> Void
    ) -> Self {
        cURLDescription(on: session.queues.root, redactingSecrets: redactingSecrets, calling: handler)
    }

    /// Calls a closure with the command line for curl, once: as soon as a `URLRequest` has been made for sending, or when
    /// the request has ended without one. All closures are called.
    ///
    /// - Parameters:
    ///   - queue: Where the closure is called.
    ///   - handler: Called with what ``cURLDescription()`` returns.
    @preconcurrency
    @discardableResult
    public func cURLDescription(
        on queue: DispatchQueue, calling handler: @escaping @Sendable (String) -> Void
    ) -> Self {
        cURLDescription(on: queue, redactingSecrets: false, calling: handler)
    }

    /// Calls a closure with the command line for curl, once: as soon as a `URLRequest` has been made for sending, or when
    /// the request has ended without one. All closures are called.
    ///
    /// - Parameters:
    ///   - queue: Where the closure is called.
    ///   - redactingSecrets: Whether passwords, tokens and cookies are hidden behind `***`.
    ///   - handler: Called with what ``cURLDescription(redactingSecrets:)`` returns.
    @preconcurrency
    @discardableResult
    public func cURLDescription(
        on queue: DispatchQueue, redactingSecrets: Bool, calling handler: @escaping @Sendable (String) -> Void
    ) -> Self {
        let waiting = Locked<(@Sendable (String) -> Void)?>(handler)
        let call: @Sendable (URLRequest?) -> Void = { [weak self] urlRequest in
            let handler = waiting.withLock { $0.take() }
            guard let self, let handler else { return }
            queue.async {
                handler(self.cURLDescription(of: urlRequest ?? self.lastRequest, redactingSecrets: redactingSecrets))
            }
        }
        madeURLRequests.add(.init(receive: { call($0) }, finish: { call(nil) }))
        return self
    }

    /// The command lines for curl, to await: one for each of ``urlRequests(bufferingPolicy:)``.
    ///
    /// - Parameters:
    ///   - redactingSecrets: Whether passwords, tokens and cookies are hidden behind `***`. The default is false.
    ///   - bufferingPolicy: Which elements are kept for a loop that falls behind. The default is `.unbounded`.
    public func cURLDescriptions(
        redactingSecrets: Bool = false, bufferingPolicy: StreamOf<String>.BufferingPolicy = .unbounded
    ) -> StreamOf<String> {
        stream(of: madeURLRequests, bufferingPolicy: bufferingPolicy) { [weak self] urlRequest in
            self?.cURLDescription(of: urlRequest, redactingSecrets: redactingSecrets) ?? Self.noCommand
        }
    }

    private static var noCommand: String { "# There is no curl command: the URLRequest cannot be sent." }

    private func cURLDescription(of urlRequest: URLRequest?, redactingSecrets: Bool) -> String {
        guard let urlRequest else { return "# There is no curl command: no URLRequest has been made." }
        do {
            return try curlCommand(for: urlRequest).text(
                Redaction(showsSecrets: !redactingSecrets, sensitiveHeaders: session.configuration.sensitiveHeaders))
        } catch is BodyNotMade {
            return "# There is no curl command: the body has not been made."
        } catch {
            return Self.noCommand
        }
    }

    /// - Throws: What sending would throw before anything is sent.
    private func curlCommand(for urlRequest: URLRequest) throws -> CurlCommand {
        try urlRequest.validate()
        let requestBody = try body(for: urlRequest)
        let body = CurlCommand.Body(requestBody)
        let request = try HTTPRequest(
            urlRequest, bodyLength: requestBody.length, writtenURL: writtenURL(of: urlRequest))
        var headers = HTTPHeaders()
        for field in try stack.options.get().defaultFields.fields where !request.headerFields.contains(field.name) {
            headers.add(name: field.name.rawName, value: field.value)
        }
        // Not those of `request`: the user and password of its URL stand in the URL here.
        for header in urlRequest.headers { headers.update(header) }
        headers.remove(name: "Content-Length")
        headers.remove(name: "Transfer-Encoding")

        var url = URLReference(asWritten: urlRequest.url?.absoluteString ?? "")
        let target = URLReference(asWritten: request.path ?? "")
        (url.path, url.query, url.fragment) = (target.path, target.query, nil)
        var command = CurlCommand(method: request.method.rawValue, url: url.text, headers: headers, body: body)
        // To curl a colon would end the user name, and Afar does not send one.
        if let credential, let user = credential.user, let password = credential.password,
            !user.utf8.contains(UInt8(ascii: ":"))
        {
            command.credential = (user, password)
        }
        command.cookies = cookies(for: request, of: urlRequest, besides: headers)
        if mayFollowRedirects { command.maximumRedirects = max(0, session.configuration.maximumRedirects) }
        command.isDecoding = headers["Accept-Encoding"] != nil
        command.suppressedHeaders = ["User-Agent"]
        if let body { command.suppressedHeaders += ["Content-Type"] + (body.mayBeLong ? ["Expect"] : []) }
        return command
    }

    /// What the session's store has for a request; nil when none of it goes along.
    private func cookies(for request: HTTPRequest, of urlRequest: URLRequest, besides headers: HTTPHeaders) -> String? {
        let configuration = stack.configuration
        guard let store = configuration.cookieStore, configuration.httpShouldSetCookies,
            urlRequest.httpShouldHandleCookies, headers["Cookie"] == nil
        else { return nil }
        let options = (try? stack.options.get()) ?? ExchangeOptions()
        let cookies = store.cookies(for: CookieURL(Exchange(request: request, options: options)))
        return cookies.isEmpty ? nil : cookies.header
    }
}

extension CurlCommand.Body {
    /// The body as curl gets it; it is left unread.
    fileprivate init?(_ body: RequestBody) {
        switch body {
        case .none: return nil
        case .data(let data):
            guard !data.isEmpty else { return nil }
            self = .data(data)
        case .file(let url): self = .file(path: url.path)
        case .stream: self = .standardInput
        }
    }

    /// Whether curl may ask for leave before it sends the body (`Expect: 100-continue`), which it does from 1 MiB on.
    fileprivate var mayBeLong: Bool {
        switch self {
        case .data(let data): data.count >= 1024 * 1024
        case .file, .standardInput, .form: true
        }
    }
}
