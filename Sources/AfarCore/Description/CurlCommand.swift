public import Foundation
import HTTPTypes

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension Request {
    // These are separate overloads, because a default argument doesn't satisfy a protocol requirement.

    /// Returns a curl command line that contains all secrets. See ``cURLDescription(redactingSecrets:)``.
    public func cURLDescription() -> String { cURLDescription(redactingSecrets: false) }

    /// Returns a curl command line that sends ``lastRequest``, for a POSIX shell. The command includes everything that the
    /// session adds to each request.
    ///
    /// If the body is a file, curl reads that file. If the body is a stream, curl reads it from standard input. If the request
    /// can't be sent, the text is a shell comment.
    ///
    /// - Parameter redactingSecrets: Whether passwords, tokens and cookies are replaced by `***`, which makes the command
    ///   incomplete.
    public func cURLDescription(redactingSecrets: Bool) -> String {
        cURLDescription(of: lastRequest, redactingSecrets: redactingSecrets)
    }

    /// Calls a closure once with a curl command line that contains all secrets. See
    /// ``cURLDescription(on:redactingSecrets:calling:)``.
    @preconcurrency
    @discardableResult
    public func cURLDescription(calling handler: @escaping @Sendable (String) -> Void) -> Self {
        cURLDescription(redactingSecrets: false, calling: handler)
    }

    /// Calls a closure on a queue, once, with a curl command line that contains all secrets. See
    /// ``cURLDescription(on:redactingSecrets:calling:)``.
    @preconcurrency
    @discardableResult
    public func cURLDescription(on queue: DispatchQueue, calling handler: @escaping @Sendable (String) -> Void) -> Self
    {
        cURLDescription(on: queue, redactingSecrets: false, calling: handler)
    }

    /// Calls a closure once with the curl command line. The closure is called as soon as a `URLRequest` has been created for
    /// sending, or when the request has ended without a `URLRequest`. You can add several closures, and each of them is called.
    ///
    /// - Parameters:
    ///   - queue: The queue on which the closure is called. The default is nil, which uses the session's ``Session/rootQueue``.
    ///   - redactingSecrets: Whether passwords, tokens and cookies are replaced by `***`.
    ///   - handler: Called with the result of ``cURLDescription(redactingSecrets:)``.
    @preconcurrency
    @discardableResult
    public func cURLDescription(
        on queue: DispatchQueue? = nil, redactingSecrets: Bool, calling handler: @escaping @Sendable (String) -> Void
    ) -> Self {
        let queue = queue ?? session.queues.root
        let waiting = Locked<(@Sendable (String) -> Void)?>(handler)
        let call: @Sendable (URLRequest?) -> Void = { [weak self] urlRequest in
            let handler = waiting.withLock { $0.take() }
            guard let self, let handler else { return }
            queue.async {
                handler(self.cURLDescription(of: urlRequest ?? self.lastRequest, redactingSecrets: redactingSecrets))
            }
        }
        createdURLRequests.add(.init(receive: { call($0) }, finish: { call(nil) }))
        return self
    }

    /// Returns a sequence of curl command lines, one for each of ``urlRequests(bufferingPolicy:)``.
    ///
    /// - Parameters:
    ///   - redactingSecrets: Whether passwords, tokens and cookies are replaced by `***`. The default is false.
    ///   - bufferingPolicy: The policy for buffering elements until the loop receives them. The default is `.unbounded`.
    public func cURLDescriptions(
        redactingSecrets: Bool = false, bufferingPolicy: StreamOf<String>.BufferingPolicy = .unbounded
    ) -> StreamOf<String> {
        stream(of: createdURLRequests, bufferingPolicy: bufferingPolicy) { [weak self] urlRequest in
            self?.cURLDescription(of: urlRequest, redactingSecrets: redactingSecrets) ?? Self.noCommand
        }
    }

    private static var noCommand: String { "# No curl command: the URLRequest cannot be sent." }

    private func cURLDescription(of urlRequest: URLRequest?, redactingSecrets: Bool) -> String {
        guard let urlRequest else { return "# No curl command: the URLRequest has not been created." }
        do {
            return try curlCommand(for: urlRequest).text(
                Redaction(showsSecrets: !redactingSecrets, sensitiveHeaders: session.configuration.sensitiveHeaders))
        } catch is BodyNotCreated {
            return "# No curl command: the body has not been created."
        } catch {
            return Self.noCommand
        }
    }

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
        // Don't use the headers of `request`, because they repeat the URL's user name and password.
        for header in urlRequest.headers { headers.update(header) }
        headers.remove(name: "Content-Length")
        headers.remove(name: "Transfer-Encoding")

        var url = URLReference(asWritten: urlRequest.url?.absoluteString ?? "")
        let target = URLReference(asWritten: request.path ?? "")
        (url.path, url.query, url.fragment) = (target.path, target.query, nil)
        var command = CurlCommand(method: request.method.rawValue, url: url.text, headers: headers, body: body)
        // curl would end the user name at a colon. Afar rejects such a name.
        if let credential, let user = credential.user, let password = credential.password,
            !user.utf8.contains(UInt8(ascii: ":"))
        {
            command.credential = (user, password)
        }
        command.cookies = cookies(for: request, of: urlRequest, besides: headers)
        if canFollowRedirects { command.maximumRedirects = max(0, session.configuration.maximumRedirects) }
        command.isDecoding = headers["Accept-Encoding"] != nil
        command.suppressedHeaders = ["User-Agent"]
        if let body { command.suppressedHeaders += ["Content-Type"] + (body.canBeLarge ? ["Expect"] : []) }
        return command
    }

    /// Returns the session's cookies for a request, or nil if none are sent.
    private func cookies(for request: HTTPRequest, of urlRequest: URLRequest, besides headers: HTTPHeaders) -> String? {
        let configuration = stack.configuration
        guard let store = configuration.cookieStore, configuration.httpShouldSetCookies,
            urlRequest.httpShouldHandleCookies, headers["Cookie"] == nil
        else { return nil }
        let options = (try? stack.options.get()) ?? ExchangeOptions()
        let url = CookieURL(Exchange(request: request, options: options))
        let cookies = store.cookies(for: url, now: options.timeSource.now)
        return cookies.isEmpty ? nil : cookies.header
    }
}

extension CurlCommand.Body {
    /// Creates the body of a curl command from a request's body, without reading it.
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

    /// Whether curl might send `Expect: 100-continue`. It does this before a body of 1 MiB or more.
    fileprivate var canBeLarge: Bool {
        switch self {
        case .data(let data): data.count >= 1024 * 1024
        case .file, .standardInput, .form: true
        }
    }
}

/// A curl command line that sends a request.
package struct CurlCommand {
    package enum Body {
        case data(Data)
        case file(path: String)
        /// Standard input, which the user of the command provides.
        case standardInput
        /// A multipart form, as the curl options for its parts.
        case form(words: [String])
    }

    package var method: String
    /// The URL as it is sent.
    package var url: String
    package var headers: HTTPHeaders
    /// The names of headers that curl would add, and that aren't sent.
    package var suppressedHeaders: [String] = []
    package var body: Body?
    /// Whether curl decodes compressed responses. If it does, it also requests compression, unless the headers already do.
    package var isDecoding = true
    /// The user and password with which curl answers an authentication challenge, if any.
    package var credential: (user: String, password: String)?
    /// The value of a `Cookie` header that curl sends in addition to the headers, if any.
    package var cookies: String?
    /// The maximum number of redirects that curl follows, or nil if it follows none.
    package var maximumRedirects: Int?
    package var options: [String] = []

    package init(method: String, url: String, headers: HTTPHeaders, body: Body?) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
    }

    /// Linux limits an argument to 128 KiB. Quoting can lengthen the text.
    private static let longestArgument = 100_000

    /// Returns the command line for a POSIX shell.
    package func text(_ redaction: Redaction) -> String {
        let body = BodyArgument(body, longest: Self.longestArgument)
        var words = ["curl"]
        words += methodWords
        // curl computes Content-Length itself.
        for header in headers where header.name.lowercased() != "content-length" {
            let value = redaction.value(header.value, of: header.name)
            words += ["-H", value.allSatisfy(\.isWhitespace) ? "\(header.name);" : "\(header.name): \(value)"]
        }
        for name in suppressedHeaders where headers[name] == nil { words += ["-H", "\(name):"] }
        if isDecoding { words.append("--compressed") }
        if let credential { words += ["-u", redaction.credential("\(credential.user):\(credential.password)")] }
        if let cookies {
            let value = redaction.value(cookies, of: "Cookie")
            // Without a "=", curl treats the value as a file name.
            words += cookies.contains("=") ? ["-b", value] : ["-H", "Cookie: \(value)"]
        }
        words += body.words
        words += redirectWords
        words += options
        words += urlWords(redaction)
        return body.pipe + words.map(ShellWord.quoted).joined(separator: " ")
    }

    private var methodWords: [String] {
        switch method {
        case "GET" where body == nil: []
        case "HEAD": ["--head"]
        case "POST" where body != nil: []
        // Without a body, curl omits Content-Length (RFC 9110, section 8.6).
        case "POST", "PUT", "PATCH": ["-X", method] + (body == nil ? ["-H", "Content-Length: 0"] : [])
        default: ["-X", method]
        }
    }

    private var redirectWords: [String] {
        guard let maximumRedirects else { return [] }
        let isUsual = maximumRedirects == SessionConfiguration.default.maximumRedirects
        return ["--location"] + (isUsual ? [] : ["--max-redirs", "\(maximumRedirects)"])
    }

    private func urlWords(_ redaction: Redaction) -> [String] {
        let path = url.unicodeScalars.prefix { $0 != "?" && $0 != "#" }
        let hasDots = path.split(separator: "/").contains { $0.elementsEqual(["."]) || $0.elementsEqual([".", "."]) }
        let hasPattern = url.unicodeScalars.contains { "[]{}".unicodeScalars.contains($0) }
        return (hasDots ? ["--path-as-is"] : []) + (hasPattern ? ["--globoff"] : []) + [redaction.url(url)]
    }
}

/// How curl receives a body: as an argument, from a file, or through a pipe if the body is too long or isn't text.
private struct BodyArgument {
    var pipe = ""
    var words: [String] = []

    init(_ body: CurlCommand.Body?, longest: Int) {
        switch body {
        case nil: break
        case .file(let path): words = ["--data-binary", "@\(path == "-" ? "./-" : path)"]
        case .standardInput: words = ["--data-binary", "@-"]
        case .form(let words): self.words = words
        case .data(let bytes): setData(bytes, longest: longest)
        }
    }

    private mutating func setData(_ bytes: Data, longest: Int) {
        guard let text = String(data: bytes, encoding: .utf8), Self.isPlain(text) else {
            pipe = "printf %s \(bytes.base64EncodedString()) | base64 -d | "
            words = ["--data-binary", "@-"]
            return
        }
        guard bytes.count <= longest else {
            pipe = "printf %s \(ShellWord.quoted(text)) | "
            words = ["--data-binary", "@-"]
            return
        }
        words = ["--data-raw", text]
    }

    /// Whether the text can be an argument. An argument can't contain control characters. A NUL would end it.
    private static func isPlain(_ text: String) -> Bool { TerminalText.isSafe(text.replacing("\r\n", with: "\n")) }
}

/// Text as a word of a POSIX shell command line.
package enum ShellWord {
    private static let plain = Set<Unicode.Scalar>(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_@%+=:,./-".unicodeScalars)

    /// Returns the word, in single quotes if needed.
    package static func quoted(_ text: String) -> String {
        if !text.isEmpty, text.unicodeScalars.allSatisfy(plain.contains) { return text }
        // The shell recognizes a quote even if a combining character follows it.
        var quoted = "'"
        for scalar in text.unicodeScalars {
            if scalar == "'" { quoted += #"'\''"# } else { quoted.unicodeScalars.append(scalar) }
        }
        return quoted + "'"
    }
}
