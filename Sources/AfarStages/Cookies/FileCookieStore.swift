public import Foundation

/// A cookie store that keeps cookies in a file, in the format of Netscape and curl. `curl -b FILE -c FILE` reads and writes the
/// same file.
///
/// The initializer reads the file. The store writes it shortly after a change, on its own queue, and in ``flush()``. Remaining
/// changes are written when the process exits. Each write replaces the whole file atomically, so a reader never finds a partial
/// file, even after a crash. Only the file's owner can read it (mode 0600).
///
/// Several processes can use the same file: each write merges the changes that other processes have made. A lock on a second
/// file, with `.lock` appended to its name, coordinates the processes. curl doesn't use that lock, so run curl before or after
/// your app.
///
/// Like curl, the store keeps session cookies. It also keeps lines that aren't cookies. The format can't store
/// ``Cookie/sameSite`` or tabs, so the store ignores cookies with a tab in their name, value, or path, and cookies of a host that
/// ends with a dot.
public final class FileCookieStore: CookieStore {
    /// The location of the file.
    public let file: URL
    private let stored: StoredContent<CookieFileContent>

    /// Creates a store and reads the file if it exists.
    ///
    /// - Parameters:
    ///   - file: The location of the file. Its directory must exist.
    ///   - limits: The maximum numbers of cookies. The default is 50 for each domain and 3,000 in all.
    /// - Throws: An error if the file exists and can't be read, or isn't a regular file but a directory, a symbolic link, or a
    ///   pipe.
    public init(file: URL, limits: CookieJar.Limits = .init()) throws(StoreFileError) {
        self.file = file
        stored = try StoredContent(file: file, CookieFileContent(limits: limits))
    }

    /// The error of the last attempt to write the file; nil if it succeeded. The store tries again after the next change.
    public var error: StoreFileError? { stored.error }

    /// Writes pending changes, and returns when they are on the disk. This method blocks, so don't call it on the main thread of
    /// an app.
    ///
    /// - Throws: An error if the file can't be written. The file then keeps its previous contents.
    public func flush() throws(StoreFileError) { try stored.flush() }

    /// A Boolean value that indicates whether the store is empty.
    public var isEmpty: Bool { stored.withContent { $0.jar.isEmpty } }

    /// All cookies that haven't expired, in no particular order.
    public var all: [Cookie] { stored.withContent { $0.jar.all() } }

    /// Returns the cookies for a request, in the order in which they are sent.
    public func cookies(for url: CookieURL) -> [Cookie] { stored.withContent { $0.jar.cookies(for: url) } }

    /// Stores cookies. An expired cookie removes the stored cookie with the same identity.
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

/// The cookies of a file, and its lines that aren't cookies.
struct CookieFileContent: StoreContent {
    var jar: CookieJar
    private let limits: CookieJar.Limits
    private var otherLines: [[UInt8]] = []

    init(limits: CookieJar.Limits) {
        (self.limits, jar) = (limits, CookieJar(limits: limits))
    }

    mutating func read(_ bytes: [UInt8], now: Date) {
        // Keeps the properties that the file can't store.
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

    /// Keeps comments. Other lines can be cookies that Afar can't parse, so they are removed.
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
