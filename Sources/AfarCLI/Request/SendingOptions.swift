import Afar
import ArgumentParser
import Foundation

/// The options for sending a request.
struct SendingOptions: ParsableArguments {
    @Option(
        name: [.customShort("H", allowingJoined: true), .customLong("header")], parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            "A header. 'Name:' removes one, and 'Name;' sends it empty. Can be repeated.", valueName: "'Name: value'"))
    var headers: [String] = []

    @Option(
        name: .customLong("query"), parsing: .unconditionalSingleValue,
        help: ArgumentHelp("Add to the URL's query, percent-encoded. Can be repeated.", valueName: "name=value"))
    var query: [String] = []

    @Option(
        name: [.customShort("A", allowingJoined: true), .long], parsing: .unconditional,
        help: ArgumentHelp("The User-Agent header.", valueName: "name"))
    var userAgent: String?

    @Option(
        name: [.customShort("m", allowingJoined: true), .long],
        help: ArgumentHelp(
            """
            The time limit for the request: 30, 1.5s, 500ms or 2m. 0 means no limit. With --retry, each attempt has this \
            limit.
            """, valueName: "time"),
        transform: { try TimeArgument($0, option: "--timeout", in: TimeArgument.Range.timeout) })
    var timeout: TimeArgument?

    @Option(
        help: ArgumentHelp("The time limit for connecting; 0 for none. (default: 30)", valueName: "time"),
        transform: { try TimeArgument($0, option: "--connect-timeout", in: TimeArgument.Range.timeout) })
    var connectTimeout: TimeArgument?

    @Flag(
        name: [.customShort("L"), .long], inversion: .prefixedNo,
        help: "Follow redirects, or treat them as the response.")
    var follow = true

    @Option(help: ArgumentHelp("The maximum number of redirects. (default: 20)", valueName: "number"))
    var maxRedirects: Int?

    @Option(
        help: ArgumentHelp(
            "Retry up to this many times after network errors and statuses such as 503.",
            valueName: "number"))
    var retry: UInt = 0

    @Option(
        help: ArgumentHelp(
            "The delay before each retry. (default: random, up to 0.5 and twice as much each time)",
            valueName: "time"),
        transform: { try TimeArgument($0, option: "--retry-delay", in: TimeArgument.Range.delay) })
    var retryDelay: TimeArgument?

    @Flag(
        help: """
            With --retry, also retry POST and PATCH requests, and all statuses from 500 to 599. The server can execute such \
            a request twice.
            """)
    var retryAll = false

    @Option(
        name: [.customShort("b", allowingJoined: true), .long], parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            "Send cookies, or those in a file without changing it. Can be repeated.", valueName: "name=value|file"))
    var cookie: [String] = []

    @Option(
        help: ArgumentHelp(
            "Send the cookies, headers and credentials of this session of the host, and save new ones.",
            valueName: "name|path"))
    var session: String?

    @Option(help: ArgumentHelp("Like --session, without saving anything.", valueName: "name|path"))
    var sessionReadOnly: String?

    @Flag(help: "Ignore the file of default options, ~/.config/afar/config.")
    var noConfig = false

    /// The headers in the file of defaults. The command line's headers replace them.
    @Option(name: .customLong("default-header"), parsing: .unconditionalSingleValue, help: .private)
    var defaultHeaders: [String] = []

    @Option(
        help: ArgumentHelp(
            "Cache responses in this folder, and reuse them while they are valid.", valueName: "folder"))
    var cache: String?

    @Option(help: "The transport.")
    var transport = TransportChoice.standard

    /// The headers that `--cookie` and `--user-agent` set.
    var shortcuts: [HeaderArgument] {
        let cookies = cookie.filter { $0.contains("=") }.map { HeaderArgument(name: "Cookie", text: $0) }
        guard let userAgent else { return cookies }
        return cookies + [HeaderArgument(name: "User-Agent", text: userAgent)]
    }

    /// The files that `--cookie` names. A value without "=" is a file.
    var cookieFiles: [String] { cookie.filter { !$0.contains("=") } }

    /// The named session for a request to the URL, if any.
    func session(for url: String) throws -> SessionFile? {
        guard let name = session ?? sessionReadOnly else { return nil }
        return try SessionFile(name, isReadOnly: session == nil, url: url)
    }

    /// Returns the store for cookies from files and the session, or nil if the options name neither.
    ///
    /// - Parameters:
    ///   - session: The named session, if any.
    ///   - cookieJar: The path of the file for cookies, if any.
    ///   - isSaved: Whether the cookies of the response are saved.
    func cookieStore(of session: SessionFile?, jar cookieJar: String?, isSaved: Bool) throws -> (any CookieStore)? {
        let files = cookieFiles
        let jar: (any CookieStore)? =
            try session?.open(isSaved: isSaved)
            ?? cookieJar.map {
                try isSaved ? CookieJarFile.open($0) : CookieJarFile.read($0, option: "--cookie-jar")
            }
        guard !files.isEmpty else { return jar }
        let store: any CookieStore = jar ?? MemoryCookieStore()
        for file in files {
            guard FileManager.default.fileExists(atPath: file) else {
                try Self.checkMissing(file, jar: cookieJar)
                continue
            }
            store.store(try CookieJarFile.read(file, option: "--cookie").all, from: nil, now: Date())
        }
        return store
    }

    /// Notes that a file for cookies doesn't exist, as before the first use of a cookie jar. curl ignores such a file.
    ///
    /// - Throws: A ``Failure`` if the text can't be meant as a file.
    private static func checkMissing(_ file: String, jar: String?) throws {
        // As in curl, an empty value names no file.
        guard !file.isEmpty, file != jar else { return }
        let text = "--cookie \(file): the file doesn't exist"
        guard file != "-", !file.contains(where: { ":;,".contains($0) || $0.isWhitespace }) else {
            throw Failure(.usage, "\(text). To send a cookie, write name=value.")
        }
        Messages.note(
            Redaction.standard.line("\(text). No cookies are sent from it. To send a cookie, write name=value."))
    }

    func validate() throws {
        if let maxRedirects {
            guard maxRedirects >= 0 else { throw ValidationError("--max-redirects must be at least 0.") }
        }
        if let userAgent, ["basic", "digest", "bearer", "ntlm"].contains(userAgent.lowercased()) {
            throw ValidationError(ForeignOption.misuse(of: "-A") ?? "")
        }
    }
}

/// The option for a file of cookies, for commands whose `-c` isn't the concurrency.
struct CookieJarOptions: ParsableArguments {
    @Option(
        name: [.customShort("c", allowingJoined: true), .long],
        help: ArgumentHelp("Send the cookies in this file, and save received cookies to it.", valueName: "file"))
    var cookieJar: String?

    func validate() throws {
        guard cookieJar != "-" else {
            throw ValidationError(
                "--cookie-jar - isn't supported. Write a file such as jar.txt, or use -v to see the Set-Cookie headers."
            )
        }
    }
}

/// A command that can save the cookies of responses in a file.
protocol CookieSaving: RequestSending {
    var jar: CookieJarOptions { get }
}

/// A command that sends a request.
///
/// A command declares its option groups directly instead of nesting them. In debug builds, ArgumentParser checks each level of
/// groups five times as often as the level above.
protocol RequestSending: Sendable {
    var sending: SendingOptions { get }
    var archive: ArchiveOptions { get }
    var network: NetworkOptions { get }
    var security: SecurityOptions { get }
    /// The groups of options that only this command has, if ``OptionRules`` contain any of them.
    var ownOptions: [any OptionNaming] { get }
}

extension RequestSending {
    /// The path of the file for cookies, if any.
    var cookieJar: String? { (self as? any CookieSaving)?.jar.cookieJar }

    /// Checks for conflicts between options.
    func checkSending() throws { try OptionRules.check(given) }

    /// Creates the session for the request.
    ///
    /// - Parameters:
    ///   - plan: The request. The pins and the credential apply to its host.
    ///   - connections: The number of connections to one host that the request can use. The default is 1.
    ///   - wrap: A closure that can wrap the transport.
    func makeSession(
        for plan: RequestPlan, connections: Int = 1, wrap: (any Transport) -> any Transport
    ) throws -> Session {
        var configuration = SessionConfiguration.default
        configuration.httpMaximumConnectionsPerHost = max(configuration.httpMaximumConnectionsPerHost, connections)
        configuration.headers.update(.userAgent("afar/\(AFInfo.version)"))
        for name in plan.removedHeaders { configuration.headers.remove(name: name) }
        configuration.exchangeOptions.omitsAccept = plan.removes("Accept")
        configuration.httpShouldSetCookies = !plan.removes("Cookie")
        configuration.joinsCookies = true
        if let timeout = sending.timeout?.timeout {
            configuration.timeoutIntervalForResource = timeout
            configuration.timeoutIntervalForRequest = timeout
        }
        if let limit = sending.connectTimeout?.timeout { configuration.timeoutIntervalForConnect = limit }
        if let maxRedirects = sending.maxRedirects { configuration.maximumRedirects = maxRedirects }
        configuration.publicSuffixList = SystemPublicSuffixList.shared
        // Recordings and requests that aren't sent contain no new cookies.
        let isSent = archive.replay == nil && (self as? any ResponseCommand)?.output.offline != true
        if let store = try sending.cookieStore(of: plan.session, jar: cookieJar, isSaved: isSent) {
            configuration.cookieStore = store
        }
        if let cache = sending.cache { configuration.cacheStore = try CacheDirectory.open(cache, option: "--cache") }
        if let http = network.http { configuration.httpVersion = http.version }
        let base = try archive.replayed()
        if base == nil {
            configuration.network = try network.settings(readsEnvironment: sending.transport.readsNetworkSettings)
        }
        try plan.security.apply(to: &configuration, url: plan.url)
        if base == nil, configuration.tlsKeyLogFile == nil {
            configuration.tlsKeyLogFile = sending.transport.keyLogFile
        }
        if base == nil { try network.apply(to: &configuration, sending.transport.makeTransport) }
        let transport = try archive.recording(base ?? sending.transport.makeTransport(for: configuration))
        let netrc: [any RequestInterceptor] = try plan.security.netrcInterceptor().map { [$0] } ?? []
        let interceptors = netrc + Retries(sending).interceptors
        return Session(
            configuration: configuration,
            interceptor: interceptors.isEmpty ? nil : Interceptor(interceptors: interceptors),
            serverTrustManager: try plan.security.trustManager(for: plan.url),
            redirectHandler: sending.follow ? nil : .doNotFollow,
            eventMonitors: try archive.monitors(), transport: wrap(transport))
    }
}

// MARK: - Cookies

/// The cookie file given on the command line.
enum CookieJarFile {
    private static let opened = Locked<FileCookieStore?>(nil)

    /// Opens the file, which doesn't need to exist. All requests of a command share it.
    static func open(_ path: String) throws -> FileCookieStore {
        if let store = opened.withLock({ $0 }) { return store }
        let store = try read(path, option: "--cookie-jar")
        guard access(URL(filePath: path).deletingLastPathComponent().path, W_OK) == 0 else {
            throw Failure(.usage, "--cookie-jar: \(path) cannot be written: \(Failure.systemReason).")
        }
        opened.withLock { $0 = store }
        return store
    }

    /// Reads a file that isn't changed.
    static func read(_ path: String, option: String) throws -> FileCookieStore {
        do {
            return try FileCookieStore(file: URL(filePath: path))
        } catch {
            throw Failure(.usage, "\(option): \(TerminalText.line(error.description)).")
        }
    }

    /// Saves the cookies of the responses. Returns whether that succeeded.
    static func save() -> Bool {
        do {
            try opened.withLock { $0 }?.flush()
            return true
        } catch {
            Messages.error("the cookies were not saved: \(TerminalText.line(error.description)).")
            return false
        }
    }
}
