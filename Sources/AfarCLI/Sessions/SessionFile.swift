import Afar
import AfarStages
import Foundation

/// A named session: the cookies, the headers and the credential that requests to one server share.
///
/// Each process reads the file before its request. After the response, it locks the session, reads the file again, and replaces it
/// with a file that also contains the process's changes. If two processes change the same cookie or header, the last one wins.
final class SessionFile: Sendable {
    /// The sessions that ``save()`` writes.
    private static let opened = Locked<[SessionFile]>([])
    private static let sizeLimit = 4 * 1024 * 1024

    let path: String
    /// The option with the name.
    private let option: String
    private let isReadOnly: Bool
    /// Whether the session has a name, not a path.
    private let hasName: Bool
    private let origin: SessionOrigin
    /// The contents before the request; nil if there was no file.
    private let initial: StoredSession?
    private let store = MemoryCookieStore()
    private let changes = Locked(Changes())

    /// What the command line adds to a session.
    struct Changes {
        var headers: [HeaderArgument] = []
        var credential: StoredSession.Credential?
    }

    /// Opens a session.
    ///
    /// - Parameters:
    ///   - name: A name, or a path that begins with "." or "/".
    ///   - url: The URL of the request.
    init(_ name: String, isReadOnly: Bool, url: String) throws {
        option = "\(isReadOnly ? "--session-read-only" : "--session") \(name)"
        guard let origin = SessionOrigin(url: url) else {
            throw Failure(.usage, "This URL cannot be requested: \(url).")
        }
        (self.origin, self.isReadOnly, hasName) = (origin, isReadOnly, !Self.isPath(name))
        // Saving must replace the file that a symbolic link names, not the link.
        path = URL(filePath: try Self.path(of: name, option: option, origin)).resolvingSymlinksInPath().path
        initial = try Self.read(path, option: option)
        if let other = initial?.origin, other != origin.text {
            let owner = SessionOrigin(url: other)?.text ?? "another server"
            throw Failure(
                .usage, "\(option) belongs to \(owner), and isn't used for \(origin.text). Choose another session.")
        }
        if isReadOnly, initial == nil {
            throw Failure(.usage, "\(option): there is no such session for \(origin.text). --session creates one.")
        }
        store.store((initial?.cookies ?? []).compactMap(\.cookie), from: nil, now: Date())
    }

    private static func isPath(_ name: String) -> Bool { name.hasPrefix("/") || name.hasPrefix(".") }

    /// Returns the file of a session.
    private static func path(of name: String, option: String, _ origin: SessionOrigin) throws -> String {
        if isPath(name) { return name }
        guard !name.isEmpty, name.utf8.count <= 100, !name.contains("/"),
            name.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7F })
        else {
            throw Failure(
                .usage, "\(option): a name has no slash and at most 100 bytes. A path begins with \"/\" or \"./\".")
        }
        let base = OwnFile.baseFolder("XDG_DATA_HOME", default: ".local/share")
        return "\(base)/afar/sessions/\(origin.folder)/\(name).json"
    }

    private static func read(_ path: String, option: String) throws -> StoredSession? {
        do {
            guard let data = try OwnFile.contents(of: path, limit: sizeLimit) else { return nil }
            // Foundation's decoder can crash if the data ends with an opening bracket.
            guard data.last(where: { !" \t\r\n".utf8.contains($0) }) == UInt8(ascii: "}"),
                let session = try? JSONDecoder().decode(StoredSession.self, from: data), session.isValid
            else {
                throw Failure(
                    .usage, "\(option): \(path) isn't a session's file. It isn't changed. Remove it, or choose another."
                )
            }
            guard session.version <= StoredSession.currentVersion else {
                throw Failure(.usage, "\(option): \(path) requires a newer version of afar.")
            }
            return session
        } catch let problem as OwnFile.Problem {
            throw Failure(.usage, "\(option): \(path) cannot be used: \(problem.text).")
        }
    }

    // MARK: The request

    /// The headers that the session adds to a request.
    var headers: [HeaderArgument] {
        (initial?.headers ?? []).map { HeaderArgument(storedName: $0.name, value: $0.value) }
    }

    /// The credential that the session adds to a request.
    var credential: StoredSession.Credential? { initial?.credential }

    /// Sets what the command line adds to the session.
    func add(_ headers: [HeaderArgument], _ credential: StoredSession.Credential?) {
        changes.withLock { $0 = Changes(headers: headers.filter { Self.isKept($0.name) }, credential: credential) }
    }

    /// Returns whether a header can be part of a session. Headers that describe one body or one condition can't.
    private static func isKept(_ name: String) -> Bool {
        let name = name.lowercased()
        let single: Set = ["cookie", "host", "range", "transfer-encoding", "expect", "proxy-authorization"]
        return !name.hasPrefix("content-") && !name.hasPrefix("if-") && !single.contains(name)
    }

    /// Returns the store for the request's cookies.
    ///
    /// - Parameter isSaved: Whether to save the session when the tool ends, unless it's read-only.
    /// - Throws: A ``Failure`` if the session must be saved and its folder can't be written.
    func open(isSaved: Bool) throws -> any CookieStore {
        guard isSaved, !isReadOnly else { return store }
        createFolder()
        guard access(folder.path, W_OK | X_OK) == 0 else {
            throw Failure(.usage, "\(option): \(path) cannot be written: \(Failure.systemReason).")
        }
        Self.opened.withLock { $0.append(self) }
        return store
    }

    private var folder: URL { URL(filePath: path).deletingLastPathComponent() }

    private func createFolder() {
        guard hasName else { return }
        try? FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    /// Returns the value of a `Cookie` field for the URL, if any, without the cookies that have one of the names.
    func cookieField(for url: String, except names: [String]) -> String? {
        guard let url = URL(keepingEscapesOf: url) else { return nil }
        let cookies = store.cookies(for: url).filter { !names.contains($0.name) }
        let pairs = cookies.map { $0.name.isEmpty ? $0.value : "\($0.name)=\($0.value)" }
        return pairs.isEmpty ? nil : pairs.joined(separator: "; ")
    }

    // MARK: Saving

    /// Saves the sessions of the command. Returns whether that succeeded.
    static func save() -> Bool {
        var isSaved = true
        for session in opened.withLock({ $0 }) {
            do {
                try session.write()
            } catch {
                let reason = (error as? Failure)?.message ?? "\(error.localizedDescription)."
                Messages.error("the session was not saved: \(TerminalText.line(reason))")
                isSaved = false
            }
        }
        return isSaved
    }

    private func write() throws {
        createFolder()
        let lock = try FileLock(for: URL(filePath: path))
        defer { lock.release() }
        let latest = try Self.read(path, option: option)
        guard latest.map({ $0.origin == origin.text }) ?? true else {
            throw Failure(.other, "\(option) \(path): another process has created it for another server.")
        }
        let result = merged(into: latest ?? StoredSession(origin: origin.text))
        guard result != latest else { return }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        let data = try encoder.encode(result) + Data("\n".utf8)
        // Don't write a file that later commands would refuse to read, because its contents would be lost.
        guard result.isValid, data.count <= Self.sizeLimit else {
            throw Failure(
                .other, "\(option) \(path): a header or credential is invalid, or the file would be too large.")
        }
        try replace(with: data)
    }

    /// Returns a session with the changes of this process.
    private func merged(into latest: StoredSession) -> StoredSession {
        var result = latest
        let changes = changes.withLock { $0 }
        let names = Set(changes.headers.map { $0.name.lowercased() })
        result.headers.removeAll { names.contains($0.name.lowercased()) }
        result.headers += changes.headers.compactMap { header in
            header.value.map { .init(name: header.name, value: $0) }
        }
        if let credential = changes.credential {
            result.credential = credential
            result.headers.removeAll { $0.name.lowercased() == "authorization" }
        } else if names.contains("authorization") {
            result.credential = nil
        }
        let before = Dictionary((initial?.cookies ?? []).map { ($0.key, $0) }) { $1 }
        let after = store.all.sorted { $0.creationDate < $1.creationDate }.map { StoredCookie($0) }
        let kept = Set(after.map(\.key))
        let changed = after.filter { before[$0.key] != $0 }
        let replaced = Set(changed.map(\.key)).union(before.keys.filter { !kept.contains($0) })
        result.cookies.removeAll { replaced.contains($0.key) }
        result.cookies += changed
        return result
    }

    /// Replaces the file atomically. Only the owner can read it. Must be called with the lock.
    private func replace(with data: Data) throws {
        let temporary = "\(path).new"
        // A killed process can leave this file behind.
        unlink(temporary)
        let descriptor = Foundation.open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Failure(.other, "\(path) cannot be written: \(Failure.systemReason).") }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        do {
            try handle.write(contentsOf: data)
            try handle.synchronize()
            guard rename(temporary, path) == 0 else {
                throw Failure(.other, "\(path) cannot be written: \(Failure.systemReason).")
            }
        } catch {
            unlink(temporary)
            throw error
        }
    }
}
