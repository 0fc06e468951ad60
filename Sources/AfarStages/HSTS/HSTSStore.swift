public import Foundation

/// A type that stores the hosts that require https (RFC 6797).
///
/// Afar provides ``MemoryHSTSStore`` and ``FileHSTSStore``. To implement your own store, use ``HSTSHosts``, which contains the
/// rules. All methods can be called on any thread, including concurrently. They must return quickly, without waiting for a disk
/// or a network.
public protocol HSTSStore: Sendable {
    /// All hosts that haven't expired, in no particular order.
    var all: [HSTSHost] { get }

    /// Returns a Boolean value that indicates whether a host requires https, either itself or because of a host above it.
    ///
    /// - Parameters:
    ///   - host: A name in lowercase, without a port.
    ///   - now: The current date.
    func contains(_ host: String, now: Date) -> Bool

    /// Stores a host, and replaces the stored host with the same name. A host that has expired at the current date removes the stored one.
    func store(_ host: HSTSHost, now: Date)

    /// Removes all hosts.
    func removeAll()
}

extension HSTSStore {
    /// Returns a Boolean value that indicates whether a host requires https at the current date.
    ///
    /// - Parameter host: A name in lowercase, without a port.
    public func contains(_ host: String) -> Bool { contains(host, now: Date()) }

    /// Stores a host. If it has expired, removes the stored host with the same name instead.
    public func store(_ host: HSTSHost) { store(host, now: Date()) }
}

/// An HSTS store that keeps hosts in memory for its own lifetime.
public final class MemoryHSTSStore: HSTSStore {
    private let hosts = InlineLocked(HSTSHosts())

    /// Creates an empty store.
    public init() {}

    /// All hosts that haven't expired, in no particular order.
    public var all: [HSTSHost] { hosts.withLock { $0.all() } }

    /// Returns a Boolean value that indicates whether a host requires https.
    public func contains(_ host: String, now: Date) -> Bool { hosts.withLock { $0.contains(host, now: now) } }

    /// Stores a host. If it has expired, removes the stored host with the same name instead.
    public func store(_ host: HSTSHost, now: Date) { hosts.withLock { $0.store(host, now: now) } }

    /// Removes all hosts.
    public func removeAll() { hosts.withLock { $0.removeAll() } }
}

/// A host that requires https (RFC 6797, section 5.3).
public struct HSTSHost: Sendable, Hashable {
    /// The name in lowercase.
    public let name: String
    /// A Boolean value that indicates whether all hosts below this one also require https.
    public let includesSubdomains: Bool
    /// The date when the requirement expires.
    public let expires: Date

    /// Creates a host.
    ///
    /// - Parameters:
    ///   - name: The name, without a port.
    ///   - includesSubdomains: Whether all hosts below this one also require https. The default is false.
    ///   - expires: The date when the requirement expires. The default is `.distantFuture`: never.
    /// - Returns: Nil if the name is invalid or is an IP address.
    public init?(name: String, includesSubdomains: Bool = false, expires: Date = .distantFuture) {
        guard let domain = CookieDomain(name), !domain.isAddress else { return nil }
        self.init(domain: domain.text, includesSubdomains: includesSubdomains, expires: expires)
    }

    init(domain: String, includesSubdomains: Bool, expires: Date) {
        (name, self.includesSubdomains, self.expires) = (domain, includesSubdomains, expires)
    }

    /// Returns a Boolean value that indicates whether the requirement has expired.
    ///
    /// - Parameter date: The date to compare with. The default is the current date.
    public func isExpired(at date: Date = Date()) -> Bool { expires <= date }
}

/// The known hosts of a store, and the rules for them (RFC 6797, sections 8.1 to 8.3).
///
/// This is a value that performs no I/O. Use it to implement your own ``HSTSStore``.
public struct HSTSHosts: Sendable {
    /// The maximum number of hosts. Excess hosts are removed in this order: expired hosts, the excess hosts of sites that use more
    /// than an eighth of the limit, and the hosts that expire first.
    public static let limit = 10_000

    private var hosts: [String: HSTSHost] = [:]

    /// Creates an empty value.
    public init() {}

    /// A Boolean value that indicates whether there are no hosts.
    public var isEmpty: Bool { hosts.isEmpty }

    /// Returns all hosts that haven't expired.
    public func all(now: Date = Date()) -> [HSTSHost] { hosts.values.filter { !$0.isExpired(at: now) } }

    /// Returns a Boolean value that indicates whether a host requires https. This is true if the host is known, or if a known host
    /// above it includes its subdomains (section 8.2).
    ///
    /// - `host`: A name in lowercase, without a port.
    public func contains(_ host: String, now: Date = Date()) -> Bool {
        guard !isEmpty else { return false }
        // Ignore a trailing dot, the DNS root.
        let domain = CookieDomain(host: host.hasSuffix(".") ? String(host.dropLast()) : host)
        guard !domain.isAddress else { return false }
        return domain.matchingDomains.contains { name in
            guard let known = hosts[String(name)], !known.isExpired(at: now) else { return false }
            return known.includesSubdomains || name.utf8.count == domain.text.utf8.count
        }
    }

    /// Stores a host, and replaces the stored host with the same name. An expired host removes the stored one.
    public mutating func store(_ host: HSTSHost, now: Date = Date()) {
        hosts[host.name] = host.isExpired(at: now) ? nil : host
        guard hosts.count > Self.limit else { return }
        hosts = hosts.filter { !$0.value.isExpired(at: now) }
        let sites = Dictionary(grouping: hosts.values) { CookieDomain.site(of: $0.name) }
        for hosts in sites.values where hosts.count > Self.limit / 8 {
            evict(hosts.count - Self.limit / 8, from: hosts)
        }
        if hosts.count > Self.limit { evict(hosts.count - Self.limit + Self.limit / 32, from: hosts.values) }
    }

    private mutating func evict(_ count: Int, from candidates: some Collection<HSTSHost>) {
        for host in candidates.sorted(by: { $0.expires < $1.expires }).prefix(count) { hosts[host.name] = nil }
    }

    /// Returns whether storing a host would change nothing: an equal entry exists, and the remaining lifetimes differ by 1% at
    /// most.
    func containsEqual(_ host: HSTSHost, now: Date = Date()) -> Bool {
        guard let known = hosts[host.name] else { return host.isExpired(at: now) }
        return known.includesSubdomains == host.includesSubdomains
            && abs(host.expires.timeIntervalSince(known.expires)) <= host.expires.timeIntervalSince(now) / 100
    }

    subscript(name: String) -> HSTSHost? { hosts[name] }

    /// Removes a host.
    public mutating func remove(_ name: String) { hosts[name] = nil }

    /// Removes all hosts.
    public mutating func removeAll() { hosts = [:] }
}

/// An HSTS store that keeps hosts in a file, in curl's format. `curl --hsts FILE` reads and writes the same file.
///
/// The initializer reads the file. The store writes the file on its own queue shortly after a change, and in ``flush()``. Remaining changes
/// are written when the process exits. Each write replaces the whole file atomically. Only the file's owner can read it (mode 0600).
/// Several processes can use the same file, as with ``FileCookieStore``.
public final class FileHSTSStore: HSTSStore {
    /// The location of the file.
    public let file: URL
    private let stored: StoredContent<HSTSFileContent>

    /// Creates a store and reads the file if it exists.
    ///
    /// - Throws: An error if the file exists but can't be read, or is a directory, a symbolic link, a pipe, or a device.
    public init(file: URL) throws(StoreFileError) {
        self.file = file
        stored = try StoredContent(file: file, HSTSFileContent())
    }

    /// The error of the last attempt to write the file; nil if it succeeded. The store tries again after the next change.
    public var error: StoreFileError? { stored.error }

    /// Writes pending changes, and returns when they are on the disk. This method blocks, so don't call it on the main thread of
    /// an app.
    ///
    /// - Throws: An error if the file can't be written. The file then keeps its previous contents.
    public func flush() throws(StoreFileError) { try stored.flush() }

    /// All hosts that haven't expired, in no particular order.
    public var all: [HSTSHost] { stored.withContent { $0.hosts.all() } }

    /// Returns a Boolean value that indicates whether a host requires https.
    public func contains(_ host: String, now: Date) -> Bool {
        stored.withContent { $0.hosts.contains(host, now: now) }
    }

    /// Stores a host. An expired host removes the stored one.
    public func store(_ host: HSTSHost, now: Date) {
        stored.change { content, changes in
            guard !content.hosts.containsEqual(host, now: now) else { return }
            content.hosts.store(host, now: now)
            changes.set(host.isExpired(at: now) ? nil : host, for: host.name)
        }
    }

    /// Removes all hosts.
    public func removeAll() {
        stored.change { content, changes in
            content.hosts.removeAll()
            changes.removeAll()
        }
    }
}

/// The hosts in a file, and the lines that aren't hosts.
struct HSTSFileContent: StoreContent {
    private static let head = """
        # Your HSTS cache. https://curl.se/docs/hsts.html
        # Written by Afar. Lines that are no hosts stay.

        """
    private static let headLines = Set(
        head.split(separator: "\n").map(String.init) + [
            "# This file was generated by libcurl! Edit at your own risk."
        ])

    var hosts = HSTSHosts()
    private var otherLines: [String] = []

    mutating func read(_ bytes: [UInt8], now: Date) {
        hosts.removeAll()
        otherLines = []
        for line in bytes.split(separator: 0x0A) {
            let text = String(decoding: line.last == 0x0D ? line.dropLast() : line, as: UTF8.self)
            if let host = Self.host(from: text) {
                hosts.store(host, now: now)
            } else if !text.isEmpty, !Self.headLines.contains(text) {
                otherLines.append(text)
            }
        }
    }

    mutating func apply(_ changes: StoreChanges<String, HSTSHost>, now: Date) {
        if changes.removesAll { hosts.removeAll() }
        for (name, host) in changes.values {
            if let host { hosts.store(host, now: now) } else { hosts.remove(name) }
        }
    }

    func bytes(now: Date) -> [UInt8] {
        let lines = otherLines + hosts.all(now: now).sorted { $0.name < $1.name }.map(Self.line)
        return Array((Self.head + lines.map { $0 + "\n" }.joined()).utf8)
    }

    func contains(_ key: String) -> Bool { hosts[key] != nil }

    // MARK: Lines: `.example.com "20270131 23:59:59"`

    private static func line(of host: HSTSHost) -> String {
        var seconds = time_t(max(0, min(host.expires.timeIntervalSince1970, 253_402_300_799)))
        var date = tm()
        gmtime_r(&seconds, &date)
        func padded(_ number: Int32, _ width: Int = 2) -> String {
            let digits = String(number)
            return String(repeating: "0", count: max(0, width - digits.count)) + digits
        }
        let day = padded(date.tm_year + 1900, 4) + padded(date.tm_mon + 1) + padded(date.tm_mday)
        let time = [date.tm_hour, date.tm_min, date.tm_sec].map { padded($0) }.joined(separator: ":")
        let end = host.expires == .distantFuture ? "unlimited" : "\(day) \(time)"
        return "\(host.includesSubdomains ? "." : "")\(host.name) \"\(end)\""
    }

    private static func host(from line: String) -> HSTSHost? {
        let parts = line.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, let expires = date(from: parts[1].filter { $0 != "\"" }) else { return nil }
        let includesSubdomains = parts[0].hasPrefix(".")
        return HSTSHost(
            name: String(includesSubdomains ? parts[0].dropFirst() : parts[0]), includesSubdomains: includesSubdomains,
            expires: expires)
    }

    private static func date(from text: String) -> Date? {
        guard text != "unlimited" else { return .distantFuture }
        let digits = Array(text.utf8.filter(\.isDigit))
        guard text.utf8.count == 17, digits.count == 14 else { return nil }
        func number(_ range: Range<Int>) -> Int32 { digits[range].reduce(0) { $0 * 10 + Int32($1 - 0x30) } }
        var date = tm()
        (date.tm_year, date.tm_mon, date.tm_mday) = (number(0..<4) - 1900, number(4..<6) - 1, number(6..<8))
        (date.tm_hour, date.tm_min, date.tm_sec) = (number(8..<10), number(10..<12), number(12..<14))
        return Date(timeIntervalSince1970: TimeInterval(timegm(&date)))
    }
}
