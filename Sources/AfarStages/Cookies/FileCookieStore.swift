public import Foundation

/// Keeps cookies in a file, in the format of Netscape and curl: `curl -b FILE -c FILE` reads and writes it, too.
///
/// The file is read when the store is made. It is written a moment after a change, on a queue of its own, and by ``flush()``;
/// what is left is written when the process exits. It is replaced as a whole, so that it is never seen half written, whatever
/// happens meanwhile, and only its owner may read it (mode 0600).
///
/// Several processes may use one file: who writes takes over what the others have written meanwhile. A lock on a file beside
/// it, with `.lock` after its name, keeps them apart. curl does not know that lock: let it run before or after.
///
/// Session cookies are kept as curl does, and so are lines that are no cookies. There is no room in the file for
/// ``Cookie/sameSite`` and for tabs: a cookie with a tab in its name, value or path is not stored, nor one of a host that ends
/// with a dot.
public final class FileCookieStore: CookieStore {
    /// Where the cookies are.
    public let file: URL
    private let stored: StoredContent<CookieFileContent>

    /// Reads a file; there need not be one yet.
    ///
    /// - Parameters:
    ///   - file: Where the cookies are. Its directory must be there.
    ///   - limits: How many cookies it keeps. The default is 50 for a domain, and 3,000 in all.
    /// - Throws: When the file is there and cannot be read, or is none: a directory, a symbolic link, a pipe.
    public init(file: URL, limits: CookieJar.Limits = .init()) throws(StoreFileError) {
        self.file = file
        stored = try StoredContent(file: file, CookieFileContent(limits: limits))
    }

    /// Why the file could not be written the last time; nil when it could. It is tried again after the next change.
    public var error: StoreFileError? { stored.error }

    /// Writes what has changed, and returns when it is on the disk. It blocks, so it is not for the main thread of an app.
    ///
    /// - Throws: When the file cannot be written. It has what it had before.
    public func flush() throws(StoreFileError) { try stored.flush() }

    /// Whether there are no cookies.
    public var isEmpty: Bool { stored.withContent { $0.jar.isEmpty } }

    /// All cookies whose time is not over, in no particular order.
    public var all: [Cookie] { stored.withContent { $0.jar.all() } }

    /// The cookies for a request, in the order in which they are sent.
    public func cookies(for url: CookieURL) -> [Cookie] { stored.withContent { $0.jar.cookies(for: url) } }

    /// Takes cookies; one whose time is over removes the one that is there.
    public func store(_ cookies: [Cookie], from url: CookieURL?) {
        stored.change { content, changes in
            for cookie in cookies where NetscapeCookieFile.hasRoom(for: cookie) {
                guard content.jar.store(cookie, from: url) else { continue }
                changes.set(cookie.isExpired() ? nil : cookie, for: cookie.identity)
            }
        }
    }

    /// Removes the cookies for which the closure returns true.
    public func remove(where shouldRemove: (Cookie) -> Bool) {
        let victims = all.filter(shouldRemove)
        stored.change { content, changes in
            for identity in content.jar.removeUnchanged(victims) { changes.set(nil, for: identity) }
        }
    }

    /// Removes all cookies.
    public func removeAll() {
        stored.change { content, changes in
            content.removeAll()
            changes.removeAll()
        }
    }
}

/// Cookies, and the lines of their file that are none.
struct CookieFileContent: StoreContent {
    var jar: CookieJar
    private let limits: CookieJar.Limits
    private var otherLines: [[UInt8]] = []

    init(limits: CookieJar.Limits) {
        (self.limits, jar) = (limits, CookieJar(limits: limits))
    }

    mutating func read(_ bytes: [UInt8], now: Date) {
        // What there is no room for in the file.
        let known = Dictionary(jar.all(now: now).map { ($0.identity, $0) }) { $1 }
        let (cookies, otherLines) = NetscapeCookieFile.read(bytes, now: now)
        self.otherLines = otherLines
        jar.replaceAll(
            with: cookies.map { cookie in
                guard let known = known[cookie.identity], known.value == cookie.value else { return cookie }
                return cookie.remembering(known)
            }, now: now)
    }

    mutating func apply(_ changes: StoreChanges<Cookie.Identity, Cookie>, now: Date) {
        if changes.removesAll { removeAll() }
        jar.remove(Set(changes.values.compactMap { $0.value == nil ? $0.key : nil }))
        let cookies = changes.values.values.compactMap { $0 }
        for cookie in cookies.sorted(by: { $0.creationDate < $1.creationDate }) { jar.store(cookie, now: now) }
    }

    /// Comments stay; another line may be somebody's cookie that cannot be read.
    mutating func removeAll() {
        jar.removeAll()
        otherLines.removeAll { $0.first != UInt8(ascii: "#") }
    }

    func bytes(now: Date) -> [UInt8] {
        NetscapeCookieFile.bytes(
            jar.all(now: now).sorted { $0.creationDate < $1.creationDate }, otherLines: otherLines)
    }

    func contains(_ key: Cookie.Identity) -> Bool { jar.contains(key) }
}
