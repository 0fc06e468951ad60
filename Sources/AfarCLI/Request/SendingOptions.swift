import Afar
import ArgumentParser
import Foundation

/// How a request is sent.
struct SendingOptions: ParsableArguments {
    @Option(
        name: [.customShort("H"), .customLong("header")], parsing: .unconditionalSingleValue,
        help: ArgumentHelp("A header. Repeat it for more.", valueName: "'Name: value'"))
    var headers: [String] = []

    @Option(
        name: .customLong("query"), parsing: .unconditionalSingleValue,
        help: ArgumentHelp("Adds to the URL's query, encoded for you. Repeat it for more.", valueName: "name=value"))
    var query: [String] = []

    @Option(help: ArgumentHelp("How long all of it may take.", valueName: "seconds"))
    var timeout: Double?

    @Flag(inversion: .prefixedNo, help: "Go where a redirect leads, or take it for the response.")
    var follow = true

    @Option(help: ArgumentHelp("How many redirects to follow. (default: 20)", valueName: "number"))
    var maxRedirects: Int?

    @Option(
        help: ArgumentHelp(
            "Try so often again when the network, or a status such as 503, says that it may go better later.",
            valueName: "number"))
    var retry: UInt = 0

    @Option(
        help: ArgumentHelp("Send the cookies in this file, and write those that are set into it.", valueName: "file"))
    var cookieJar: String?

    @Option(
        help: ArgumentHelp(
            "Keep responses in this folder, and answer with them as long as they hold.", valueName: "folder"))
    var cache: String?

    @Option(help: "What carries the request.")
    var transport = TransportChoice.standard

    func validate() throws {
        if let maxRedirects {
            guard maxRedirects >= 0, follow else {
                throw ValidationError("--max-redirects is a number from 0, and not for --no-follow.")
            }
        }
        if let timeout { try TimeoutArgument.check(timeout) }
    }
}

/// A command that sends a request.
///
/// It has its groups of options itself, not in a group of groups: in a debug build, ArgumentParser checks each level of groups
/// five times as often as the level above.
protocol RequestSending: Sendable {
    var sending: SendingOptions { get }
    var archive: ArchiveOptions { get }
    var network: NetworkOptions { get }
    var security: SecurityOptions { get }
}

extension RequestSending {
    /// Checks options of different groups that exclude each other.
    func checkSending() throws {
        if sending.transport == .urlsession, security.auth == .ntlm || security.auth == .negotiate {
            throw ValidationError("--auth \(security.auth?.rawValue ?? "") is not for --transport urlsession.")
        }
        if sending.cache != nil, !security.insecureHost.isEmpty {
            throw ValidationError("--cache keeps nothing that --insecure-host lets through: choose one of them.")
        }
        if sending.cache != nil, archive.replay != nil {
            throw ValidationError("--cache doesn't store what --replay answers with: choose one of them.")
        }
    }

    /// Makes the session that the request is sent with.
    ///
    /// - Parameters:
    ///   - url: What is asked first, whose host the pins and the credential are for.
    ///   - wrap: Puts a transport of its own around the one chosen.
    func makeSession(for url: String, wrap: (any Transport) -> any Transport) throws -> Session {
        var configuration = SessionConfiguration.default
        configuration.headers.update(.userAgent("afar/\(AFInfo.version)"))
        if let timeout = sending.timeout {
            configuration.timeoutIntervalForResource = timeout
            configuration.timeoutIntervalForRequest = timeout
        }
        if let maxRedirects = sending.maxRedirects { configuration.maximumRedirects = maxRedirects }
        configuration.publicSuffixList = SystemPublicSuffixList.shared
        if let cookieJar = sending.cookieJar { configuration.cookieStore = try CookieJarFile.open(cookieJar) }
        if let cache = sending.cache { configuration.cacheStore = try CacheDirectory.open(cache, option: "--cache") }
        if let http = network.http { configuration.httpVersion = http.version }
        let base = try archive.replayed()
        if base == nil {
            configuration.network = try network.settings(readsEnvironment: sending.transport.readsNetworkSettings)
        }
        try security.apply(to: &configuration, url: url)
        if base == nil, configuration.tlsKeyLogFile == nil {
            configuration.tlsKeyLogFile = sending.transport.keyLogFile
        }
        let carrier = try archive.recording(base ?? sending.transport.makeTransport(for: configuration))
        return Session(
            configuration: configuration, interceptor: Retries(limit: sending.retry).policy,
            serverTrustManager: try security.trustManager(for: url),
            redirectHandler: sending.follow ? nil : .doNotFollow,
            eventMonitors: try archive.monitors(), transport: wrap(carrier))
    }
}

// MARK: - Timeout

/// The values of `--timeout`.
enum TimeoutArgument {
    /// - Throws: A `ValidationError` for what is no time to wait.
    static func check(_ seconds: Double) throws {
        guard seconds > 0, seconds <= 604_800 else {
            throw ValidationError("--timeout is in seconds, more than 0 and at most 604800 (a week).")
        }
    }
}

// MARK: - Retries

/// Tries again what may go better later.
struct Retries {
    let limit: UInt

    /// Does so; waits for as long as a server asks for, up to five minutes.
    var policy: RetryPolicy? {
        limit > 0 ? RetryPolicy(retryLimit: limit, jitter: .full, maximumRetryAfter: 300) : nil
    }

    /// Has a status that speaks of a passing trouble fail the request as long as retries are left: only failures are
    /// retried.
    func apply(to request: DataRequest) {
        guard let policy else { return }
        request.validate { [weak request, limit] urlRequest, response, _ in
            guard let request, request.retryCount < limit, let method = urlRequest?.method,
                policy.retryableHTTPMethods.contains(method),
                policy.retryableHTTPStatusCodes.contains(response.statusCode)
            else { return .success }
            return .failure(
                AFError.responseValidationFailed(reason: .unacceptableStatusCode(code: response.statusCode)))
        }
    }
}

// MARK: - Cookies

/// The file of cookies that the command line names.
enum CookieJarFile {
    private static let opened = Locked<FileCookieStore?>(nil)

    /// Reads the file; there need not be one yet.
    static func open(_ path: String) throws -> FileCookieStore {
        do {
            let store = try FileCookieStore(file: URL(filePath: path))
            opened.withLock { $0 = store }
            return store
        } catch {
            throw Failure(.usage, "--cookie-jar: \(TerminalText.line(error.description)).")
        }
    }

    /// Writes what the responses have set.
    static func save() {
        do {
            try opened.withLock { $0 }?.flush()
        } catch {
            StandardError.write("afar: the cookies are not saved: \(TerminalText.line(error.description)).\n")
        }
    }
}
