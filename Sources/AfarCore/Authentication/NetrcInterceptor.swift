import AfarStages
import AfarTransport
public import Foundation
import HTTPTypes

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// Sends the user names and passwords of a `.netrc` file, as curl and other tools do.
///
/// ```swift
/// let session = Session(interceptor: try NetrcInterceptor())
/// ```
///
/// The interceptor sends the credentials as Basic authentication (RFC 7617) without waiting for a challenge. It sends them over
/// https. Over http, it sends them only to this machine (`localhost` and loopback addresses) without a proxy. It never sends them
/// after a redirect to another origin. If the ``SessionConfiguration/hstsStore`` contains the host of an http URL, the interceptor
/// changes the URL to https. Requests with an `Authorization` header or a ``Request/credential`` don't use the file. If the URL
/// contains a user name without a password, the file provides the password of that user.
///
/// The file contains entries such as `machine api.example.com login ada password s3cret`. If several entries match, the first one
/// applies. An entry applies to every port and scheme of its host, unless it contains `port` or `protocol`. The entry `default`
/// applies to all hosts without an earlier entry, so it is usually the last one. Values can be in quotation marks, with `\"`, `\\`,
/// `\n`, `\r` and `\t` as escapes. A `#` before a keyword starts a comment. Macros and accounts are ignored.
public struct NetrcInterceptor: RequestInterceptor {
    private let file: NetrcFile

    /// The file that the environment variable `NETRC` names. Without the variable, it is `.netrc` in the home directory.
    public static var defaultFile: URL { namedFile ?? homeDirectory.appending(path: ".netrc") }

    private static var namedFile: URL? {
        ProcessInfo.processInfo.environment["NETRC"].flatMap { $0.isEmpty ? nil : URL(filePath: $0) }
    }

    private static var homeDirectory: URL {
        let path = ProcessInfo.processInfo.environment["HOME"] ?? ""
        return path.hasPrefix("/") ? URL(filePath: path) : FileManager.default.homeDirectoryForCurrentUser
    }

    /// Reads a file. Later changes of the file have no effect.
    ///
    /// - Parameter file: The file. The default is ``defaultFile``. If the variable `NETRC` isn't set, the file can be missing.
    /// - Throws: ``NetrcError``, for example if other users can access the file.
    public init(file: URL? = nil) throws(NetrcError) {
        let isOptional = file == nil && Self.namedFile == nil
        self.file = try NetrcFile(file ?? Self.defaultFile, isOptional: isOptional)
    }

    /// Adds the credentials for the request's host.
    @preconcurrency
    public func adapt(
        _ urlRequest: URLRequest, for session: Session,
        completion: @escaping @Sendable (_ result: Result<URLRequest, any Error>) -> Void
    ) {
        completion(.success(adapted(urlRequest, nil, session)))
    }

    /// Adds the credentials for the request's host, unless the request has other credentials.
    @preconcurrency
    public func adapt(
        _ urlRequest: URLRequest, using state: RequestAdapterState,
        completion: @escaping @Sendable (_ result: Result<URLRequest, any Error>) -> Void
    ) {
        completion(.success(adapted(urlRequest, state.request, state.session)))
    }

    private func adapted(_ original: URLRequest, _ request: Request?, _ session: Session) -> URLRequest {
        let stack = request?.stack ?? session.state.stack
        let options = try? stack.options.get()
        let defaults = (request?.options.defaultFields ?? options?.defaultFields)?.fields ?? [:]
        // Change the URL now, because the host could be removed from the store before the request is sent.
        var urlRequest = stack.configuration.upgraded(original, as: request) ?? original
        let url = (request?.sink.httpForm(of: urlRequest) ?? urlRequest).url
        guard urlRequest.value(forHTTPHeaderField: "Authorization") == nil, !defaults.contains(.authorization),
            request?.credential == nil, let target = url.flatMap({ try? RequestTarget($0) }),
            target.userinfo?.password.isEmpty ?? true, let entry = file.entry(for: target),
            target.canReceiveCredentials(over: request?.options.network ?? options?.network ?? .none)
        else { return original }
        urlRequest.headers.add(.authorization(username: entry.login, password: entry.password))
        return urlRequest
    }
}

extension RequestTarget {
    /// Returns whether the credentials of a `.netrc` file reach only the server. This is the case if the request uses https, or if no
    /// other machine receives it.
    package func canReceiveCredentials(over network: NetworkSettings) -> Bool {
        scheme == "https" || network.staysOnThisMachine(scheme: scheme, authority: authority)
    }

    fileprivate var request: HTTPRequest {
        HTTPRequest(method: .get, scheme: scheme, authority: authority, path: path)
    }
}

extension SessionConfiguration {
    /// Returns the request with an https or wss URL if its host requires TLS (RFC 6797, section 8.3), and nil otherwise.
    fileprivate func upgraded(_ urlRequest: URLRequest, as request: Request?) -> URLRequest? {
        guard let url = urlRequest.url, let store = hstsStore,
            let httpURL = (request?.sink.httpForm(of: urlRequest) ?? urlRequest).url,
            let target = try? RequestTarget(httpURL),
            HSTSUpgrade(store).upgraded(target.request, now: timeSource.now) != nil,
            var components = URLComponents(url: url, resolvingAgainstBaseURL: true)
        else { return nil }
        components.scheme = components.scheme?.lowercased() == "ws" ? "wss" : "https"
        if components.port == 80 { components.port = nil }
        guard let upgraded = components.url else { return nil }
        var urlRequest = urlRequest
        urlRequest.url = upgraded
        return urlRequest
    }
}

/// The entries of a `.netrc` file.
struct NetrcFile {
    struct Entry: Equatable {
        /// The host; nil for all hosts.
        fileprivate var host: String?
        fileprivate var port: String?
        fileprivate var scheme: String?
        var login = ""
        var password = ""

        fileprivate init(host: String?) {
            self.host = host.map { host in
                // A host with a port or a zone matches no request. If these parts were removed, the host would also match other
                // servers.
                let hasPort = host.utf8.count(where: { $0 == UInt8(ascii: ":") }) == 1 || host.contains("]:")
                return hasPort || host.contains("%") ? host : HostName(host).text
            }
        }

        fileprivate func matches(_ target: RequestTarget) -> Bool {
            let standardPort = target.scheme == "https" ? 443 : 80
            let ports = [String(HostName.port(ofAuthority: target.authority) ?? standardPort), target.scheme]
            guard port.map({ ports.contains($0) }) ?? true, scheme.map({ $0 == target.scheme }) ?? true else {
                return false
            }
            let user = target.userinfo?.user ?? ""
            return user.isEmpty ? !login.isEmpty : login == user
        }
    }

    private static let largestSize = 1 << 20

    private let entries: [Entry]

    /// Reads a file.
    ///
    /// - Parameter isOptional: Whether the file can be missing.
    init(_ file: URL, isOptional: Bool) throws(NetrcError) {
        let text = try Self.text(of: file, isOptional: isOptional)
        do { try self.init(parsing: text) } catch { throw .malformed(file, line: error.line, error.problem) }
    }

    private static func text(of file: URL, isOptional: Bool) throws(NetrcError) -> String {
        // Use O_NONBLOCK, because opening a pipe without a writer would block.
        let descriptor = open(file.path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else {
            if isOptional, errno == ENOENT { return "" }
            throw .unreadable(file, String(cString: strerror(errno)))
        }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw .unreadable(file, "it is not a regular file")
        }
        guard status.st_mode & 0o077 == 0 else { throw .accessibleByOthers(file) }
        let data: Data?
        do { data = try handle.read(upToCount: largestSize + 1) } catch {
            throw .unreadable(file, error.localizedDescription)
        }
        guard let text = String(data: data ?? Data(), encoding: .utf8), text.utf8.count <= largestSize else {
            throw .unreadable(file, "it is larger than 1 MiB, or its text is not UTF-8")
        }
        return text
    }

    /// A problem in a line. It contains no text of the file.
    struct Fault: Error {
        let line: Int
        let problem: String
    }

    init(parsing text: String) throws(Fault) {
        var tokens = Tokens(text)
        var entries: [Entry] = []
        while let keyword = try tokens.keyword() {
            switch keyword {
            case "machine": entries.append(Entry(host: try tokens.value()))
            case "default": entries.append(Entry(host: nil))
            case "macdef": tokens.skipMacro()
            case let member where Self.members.contains(member):
                guard let last = entries.indices.last else { throw tokens.fault("expected machine or default") }
                let value = try tokens.value()
                switch member {
                case "login", "user": entries[last].login = value
                case "password", "passwd": entries[last].password = value
                case "port": entries[last].port = value
                case "protocol": entries[last].scheme = value
                default: break
                }
            default: throw tokens.fault("expected machine, default, login, password, account or macdef")
            }
        }
        self.entries = entries
    }

    private static let members: Set = ["login", "user", "password", "passwd", "account", "port", "protocol"]

    /// Returns the first entry for a target, or nil if no entry matches.
    func entry(for target: RequestTarget) -> Entry? {
        let host = HostName(ofAuthority: target.authority).text
        // Like curl, ignore a `default` entry that follows an entry of this host, even if that entry is for another user or port.
        let firstOwn = entries.firstIndex { $0.host == host } ?? entries.endIndex
        let candidates = entries.enumerated().filter { $1.host == host || $1.host == nil && $0 < firstOwn }
        return candidates.map(\.element).first { $0.matches(target) }
    }
}

/// Splits the text of a file.
private struct Tokens {
    private var rest: Substring.UnicodeScalarView
    private var line = 1

    init(_ text: String) { rest = text.unicodeScalars[...] }

    func fault(_ problem: String) -> NetrcFile.Fault { NetrcFile.Fault(line: line, problem: problem) }

    private static func isSpace(_ scalar: Unicode.Scalar) -> Bool { scalar == " " || ("\t"..."\r").contains(scalar) }

    @discardableResult
    private mutating func take() -> Unicode.Scalar? {
        let scalar = rest.popFirst()
        if scalar == "\n" { line += 1 }
        return scalar
    }

    private mutating func skip(while condition: (Unicode.Scalar) -> Bool) {
        while let next = rest.first, condition(next) { take() }
    }

    /// Returns the next keyword, or nil at the end. Skips comments.
    mutating func keyword() throws(NetrcFile.Fault) -> String? {
        skip(while: Self.isSpace)
        while rest.first == "#" {
            skip { $0 != "\n" }
            skip(while: Self.isSpace)
        }
        return rest.isEmpty ? nil : try value()
    }

    /// Returns the value after a keyword.
    mutating func value() throws(NetrcFile.Fault) -> String {
        skip(while: Self.isSpace)
        var value = String.UnicodeScalarView()
        guard rest.first == "\"" else {
            while let next = rest.first, !Self.isSpace(next) {
                value.append(next)
                take()
            }
            guard !value.isEmpty else { throw fault("a value is missing at the end") }
            return String(value)
        }
        take()
        while let next = take() {
            switch next {
            case "\"": return String(value)
            case "\\":
                switch take() {
                case "n": value.append("\n")
                case "r": value.append("\r")
                case "t": value.append("\t")
                case let other?: value.append(other)
                case nil: break
                }
            default: value.append(next)
            }
        }
        throw fault("a quotation mark is missing at the end of a value")
    }

    /// Skips a macro, which ends at an empty line.
    mutating func skipMacro() {
        while !rest.isEmpty {
            skip { $0 != "\n" }
            take()
            if rest.first == "\n" || rest.starts(with: ["\r", "\n"]) { return }
        }
    }
}

/// An error that occurs when a `.netrc` file can't be used. It contains no text of the file.
public enum NetrcError: Error, Sendable, Hashable {
    /// The file can't be read. The text contains the reason.
    case unreadable(URL, String)
    /// Other users can read or write the file.
    case accessibleByOthers(URL)
    /// A line of the file is malformed. The text describes the problem.
    case malformed(URL, line: Int, String)
}

extension NetrcError: LocalizedError, CustomStringConvertible {
    /// A description of the problem that names the file.
    public var description: String {
        let text =
            switch self {
            case .unreadable(let file, let reason): "\(file.path) cannot be read: \(reason)"
            case .accessibleByOthers(let file):
                "\(file.path) contains passwords, but other users can access it: run chmod 600 \(file.path)"
            case .malformed(let file, let line, let problem): "line \(line) of \(file.path) is malformed: \(problem)"
            }
        return TerminalText.line(text)
    }

    /// The same text as ``description``.
    public var errorDescription: String? { description }
}
