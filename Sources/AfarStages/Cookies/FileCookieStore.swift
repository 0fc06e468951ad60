public import Foundation

/// A cookie store that keeps cookies in a file, in the format of Netscape and curl. `curl -b FILE -c FILE` reads and writes the
/// same file.
///
/// The initializer reads the file. The store writes the file on its own queue shortly after a change, and in ``flush()``. Remaining changes
/// are written when the process exits. Each write replaces the whole file atomically, so a reader never finds a partial file, even after a
/// crash. Only the file's owner can read it (mode 0600).
///
/// Several processes can use the same file: each write merges the changes that other processes have made. During a write, a process locks a
/// second file, which has the same name with `.lock` appended. The second file exists only during a write. curl doesn't use this lock, so
/// run curl before or after your app.
///
/// Like curl, the store keeps session cookies. It also keeps lines that aren't cookies. The format has no field for
/// ``Cookie/sameSite``. The store ignores cookies that the format can't represent: cookies with a tab in their name, value, or
/// path, and cookies of a host that ends with a dot.
public final class FileCookieStore: CookieStore {
    /// The location of the file.
    public let file: URL
    private let stored: StoredContent<CookieFileContent>

    /// Creates a store and reads the file if it exists.
    ///
    /// - Parameters:
    ///   - file: The location of the file. Its directory must exist.
    ///   - limits: The maximum numbers of cookies. The default is 50 for each domain and 3,000 in total.
    /// - Throws: An error if the file exists but can't be read, or is a directory, a symbolic link, a pipe, or a device.
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
    public func cookies(for url: CookieURL, now: Date) -> [Cookie] {
        stored.withContent { $0.jar.cookies(for: url, now: now) }
    }

    /// Stores cookies. An expired cookie removes the stored cookie with the same identity.
    public func store(_ cookies: [Cookie], from url: CookieURL?, now: Date) {
        stored.change { content, changes in
            for cookie in cookies where NetscapeCookieFile.hasRoom(for: cookie) {
                guard content.jar.store(cookie, from: url, now: now) else { continue }
                changes.set(cookie.isExpired(at: now) ? nil : cookie, for: cookie.identity)
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

struct CookieFileContent: StoreContent {
    var jar: CookieJar
    private let limits: CookieJar.Limits
    private var otherLines: [[UInt8]] = []

    init(limits: CookieJar.Limits) {
        (self.limits, jar) = (limits, CookieJar(limits: limits))
    }

    mutating func read(_ bytes: [UInt8], now: Date) {
        // Keep the properties that a file can't store.
        let known = Dictionary(jar.all(now: now).map { ($0.identity, $0) }) { $1 }
        let (cookies, otherLines) = NetscapeCookieFile.read(bytes, now: now)
        self.otherLines = otherLines
        jar.replaceAll(
            with: cookies.map { cookie in
                guard let known = known[cookie.identity], known.value == cookie.value else { return cookie }
                return cookie.addingTransientProperties(of: known)
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

// MARK: - File format

/// The cookie file format of Netscape, as curl reads and writes it. Each cookie is a line of seven fields, separated by tabs.
///
/// The format stores neither a cookie's `SameSite` attribute nor its creation date.
enum NetscapeCookieFile {
    private static let head = """
        # Netscape HTTP Cookie File
        # https://curl.se/docs/http-cookies.html
        # Written by Afar. Lines that are no cookies stay.


        """
    private static let httpOnlyMark = "#HttpOnly_"
    /// The header lines of files that curl or Afar wrote.
    private static let headLines = Set(
        head.split(separator: "\n").map { Array($0.utf8) }
            + [Array("# This file was generated by libcurl! Edit at your own risk.".utf8)])

    /// Returns whether the format can represent a cookie.
    static func hasRoom(for cookie: Cookie) -> Bool {
        [cookie.name, cookie.value, cookie.path].allSatisfy { !$0.utf8.contains(0x09) }
            && CookieDomain(cookie.domain) != nil
    }

    /// The end of the year 9999, in seconds since 1970.
    private static let latest: Double = 253_402_300_799

    // MARK: Writing

    static func bytes(_ cookies: [Cookie], otherLines: [[UInt8]]) -> [UInt8] {
        var bytes = Array(head.utf8)
        for line in otherLines { bytes += line + [0x0A] }
        for cookie in cookies { bytes += line(of: cookie).bytes(isLatin1: cookie.isLatin1) }
        return bytes
    }

    private static func line(of cookie: Cookie) -> String {
        let fields = [
            (cookie.isHTTPOnly ? httpOnlyMark : "") + (cookie.isHostOnly ? "" : ".") + cookie.domain,
            cookie.isHostOnly ? "FALSE" : "TRUE", cookie.path, cookie.isSecure ? "TRUE" : "FALSE",
            // 0 marks a session cookie.
            "\(cookie.expires.map { Int64(max(1, min($0.timeIntervalSince1970.rounded(.up), latest))) } ?? 0)",
            cookie.name,
            cookie.value,
        ]
        return fields.joined(separator: "\t") + "\n"
    }

    // MARK: Reading

    /// Parses a file. Also returns the lines that aren't cookies, except for the header lines.
    ///
    /// - Parameter now: The current date. The cookies get creation dates just before this date, in the order of their lines.
    static func read(_ bytes: [UInt8], now: Date) -> (cookies: [Cookie], otherLines: [[UInt8]]) {
        var cookies: [Cookie] = []
        var otherLines: [[UInt8]] = []
        let lines = bytes.split(separator: 0x0A)
        for (number, line) in lines.enumerated() {
            let line = line.last == 0x0D ? line.dropLast() : line
            let date = now.addingTimeInterval(TimeInterval(number - lines.count) * 0.000_001)
            if let cookie = cookie(from: line, creationDate: date) {
                cookies.append(cookie)
            } else if !line.isEmpty, !headLines.contains(Array(line)) {
                otherLines.append(Array(line))
            }
        }
        return (cookies, otherLines)
    }

    private static func cookie(from line: ArraySlice<UInt8>, creationDate: Date) -> Cookie? {
        let isHTTPOnly = line.starts(with: httpOnlyMark.utf8)
        let line = isHTTPOnly ? line.dropFirst(httpOnlyMark.utf8.count) : line
        guard line.first != UInt8(ascii: "#") else { return nil }
        let text = FieldText(line)
        var fields = text.text.split(separator: "\t", maxSplits: 6, omittingEmptySubsequences: false).map(String.init)
        if fields.count == 6 { fields.append("") }
        guard fields.count == 7, !fields[6].utf8.contains(0x09), let includesSubdomains = flag(fields[1]),
            let isSecure = flag(fields[3]), let seconds = Int64(fields[4]), seconds >= 0
        else { return nil }
        let domain = fields[0].utf8.first == UInt8(ascii: ".") ? String(fields[0].dropFirst()) : fields[0]
        var cookie = Cookie(
            name: fields[5], value: fields[6], domain: domain, isHostOnly: !includesSubdomains, path: fields[2],
            expires: seconds == 0 ? nil : Date(timeIntervalSince1970: TimeInterval(seconds)),
            isSecure: isSecure, isHTTPOnly: isHTTPOnly, creationDate: creationDate)
        cookie?.isLatin1 = text.isLatin1
        return cookie
    }

    private static func flag(_ field: String) -> Bool? {
        switch field.asciiLowercased {
        case "true": true
        case "false": false
        default: nil
        }
    }
}
