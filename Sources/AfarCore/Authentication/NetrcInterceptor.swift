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
/// The first request to a host contains the credentials as Basic authentication (RFC 7617). They are sent only over https, or to this
/// machine (`localhost` and loopback addresses), and never after a redirect to another origin. Requests with an `Authorization` header,
/// a ``Request/credential``, or a user name in their URL don't use the file.
///
/// The file contains entries such as `machine api.example.com login ada password s3cret`. An entry applies to every port of its host, and
/// the entry `default` to all hosts without their own entry. If a host has several entries, the first one applies. Values can be in
/// quotation marks, with `\"`, `\\`, `\n`, `\r` and `\t` as escapes. A `#` before a keyword starts a comment. Macros and accounts are ignored.
public struct NetrcInterceptor: RequestInterceptor {
    private let file: NetrcFile

    /// Reads a file. Later changes of the file have no effect.
    ///
    /// - Parameter file: The file. By default, it is the file that the environment variable `NETRC` names. Without the variable, it is
    ///   `.netrc` in the home directory, which doesn't have to exist.
    /// - Throws: ``NetrcError``, for example if other users can access the file.
    public init(file: URL? = nil) throws(NetrcError) {
        let environment = ProcessInfo.processInfo.environment
        let named = file ?? environment["NETRC"].flatMap { $0.isEmpty ? nil : URL(filePath: $0) }
        let home = environment["HOME"].map { URL(filePath: $0) } ?? FileManager.default.homeDirectoryForCurrentUser
        self.file = try NetrcFile(named ?? home.appending(path: ".netrc"), isOptional: named == nil)
    }

    /// Adds the credentials for the request's host.
    @preconcurrency
    public func adapt(
        _ urlRequest: URLRequest, for session: Session,
        completion: @escaping @Sendable (_ result: Result<URLRequest, any Error>) -> Void
    ) {
        completion(.success(adapted(urlRequest)))
    }

    /// Adds the credentials for the request's host, unless the request has a credential.
    @preconcurrency
    public func adapt(
        _ urlRequest: URLRequest, using state: RequestAdapterState,
        completion: @escaping @Sendable (_ result: Result<URLRequest, any Error>) -> Void
    ) {
        completion(.success(state.request?.credential == nil ? adapted(urlRequest) : urlRequest))
    }

    private func adapted(_ urlRequest: URLRequest) -> URLRequest {
        guard urlRequest.value(forHTTPHeaderField: "Authorization") == nil,
            let target = urlRequest.url.flatMap({ try? RequestTarget($0) }), target.userinfo == nil,
            let entry = file.entry(for: HostName(ofAuthority: target.authority))
        else { return urlRequest }
        let isLocal = HTTPRequest(method: .get, scheme: nil, authority: target.authority, path: nil).staysOnThisMachine
        guard target.scheme == "https" || isLocal else { return urlRequest }
        var urlRequest = urlRequest
        urlRequest.headers.add(.authorization(username: entry.login, password: entry.password))
        return urlRequest
    }
}

/// The entries of a `.netrc` file.
struct NetrcFile {
    struct Entry: Equatable {
        var login = ""
        var password = ""
    }

    private static let largestSize = 1 << 20

    private let entries: [HostName: Entry]
    private let standard: Entry?

    /// Reads a file.
    ///
    /// - Parameter isOptional: Whether the file can be missing.
    init(_ file: URL, isOptional: Bool) throws(NetrcError) {
        let text = try Self.text(of: file, isOptional: isOptional)
        do { try self.init(parsing: text) } catch { throw .malformed(file, line: error.line, error.problem) }
    }

    private static func text(of file: URL, isOptional: Bool) throws(NetrcError) -> String {
        // O_NONBLOCK, because opening a pipe without a writer would block.
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
        var host: HostName?
        var entry: Entry?
        var entries: [HostName: Entry] = [:]
        var standard: Entry?
        func finish() {
            guard let entry else { return }
            if let host { entries[host] = entries[host] ?? entry } else { standard = standard ?? entry }
        }
        while let keyword = try tokens.keyword() {
            switch keyword {
            case "machine":
                finish()
                (host, entry) = (HostName(try tokens.value()), Entry())
            case "default":
                finish()
                (host, entry) = (nil, Entry())
            case "login", "user": entry?.login = try tokens.value()
            case "password", "passwd": entry?.password = try tokens.value()
            case "account": _ = try tokens.value()
            case "macdef": tokens.skipMacro()
            default: throw tokens.fault("expected machine, default, login, password, account or macdef")
            }
            if entry == nil, keyword != "macdef" { throw tokens.fault("expected machine or default") }
        }
        finish()
        (self.entries, self.standard) = (entries, standard)
    }

    /// Returns the entry for a host; nil if there is none, or if it has no user name.
    func entry(for host: HostName) -> Entry? {
        guard let entry = entries[host] ?? standard, !entry.login.isEmpty else { return nil }
        return entry
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
