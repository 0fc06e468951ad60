import Foundation

/// A header of a request or response: a name and a value.
public struct HTTPHeader: Equatable, Hashable, Sendable {
    /// The name, with its original case.
    public let name: String
    /// The value.
    public let value: String

    /// Creates a header.
    public init(name: String, value: String) {
        self.name = name
        self.value = value
    }
}

extension HTTPHeader: CustomStringConvertible {
    /// The header on one line, including secrets. Control characters and invisible characters are escaped, as in `\u001B`.
    public var description: String {
        TerminalText.line("\(name): \(value)")
    }
}

extension HTTPHeader {
    /// An `Accept` header.
    public static func accept(_ value: String) -> HTTPHeader {
        HTTPHeader(name: "Accept", value: value)
    }

    /// An `Accept-Charset` header.
    public static func acceptCharset(_ value: String) -> HTTPHeader {
        HTTPHeader(name: "Accept-Charset", value: value)
    }

    /// An `Accept-Language` header. `defaultAcceptLanguage` contains the user's languages.
    public static func acceptLanguage(_ value: String) -> HTTPHeader {
        HTTPHeader(name: "Accept-Language", value: value)
    }

    /// An `Accept-Encoding` header. `defaultAcceptEncoding` contains the codings that are decoded automatically.
    public static func acceptEncoding(_ value: String) -> HTTPHeader {
        HTTPHeader(name: "Accept-Encoding", value: value)
    }

    /// An `Authorization` header with the `Basic` scheme (RFC 7617), in UTF-8.
    ///
    /// A user name can't contain a colon, because the server would read the rest as the password. Control characters aren't
    /// allowed either. If the user name or the password is invalid, the header's value is `Basic`, without credentials. A request
    /// with this header fails before anything is sent. The error is the same as for
    /// ``Request/authenticate(username:password:persistence:)``: an `AFError.sessionTaskFailed` with the `URLError`
    /// `userAuthenticationRequired`.
    public static func authorization(username: String, password: String) -> HTTPHeader {
        let value = try? BasicAuthentication.authorization(user: username, password: password, url: nil)
        return authorization(value ?? BasicAuthentication.withoutCredentials)
    }

    /// An `Authorization` header with the `Bearer` scheme.
    public static func authorization(bearerToken: String) -> HTTPHeader {
        authorization("Bearer \(bearerToken)")
    }

    /// An `Authorization` header with the given value, which includes the scheme.
    public static func authorization(_ value: String) -> HTTPHeader {
        HTTPHeader(name: "Authorization", value: value)
    }

    /// A `Content-Disposition` header.
    public static func contentDisposition(_ value: String) -> HTTPHeader {
        HTTPHeader(name: "Content-Disposition", value: value)
    }

    /// A `Content-Encoding` header.
    public static func contentEncoding(_ value: String) -> HTTPHeader {
        HTTPHeader(name: "Content-Encoding", value: value)
    }

    /// A `Content-Type` header.
    public static func contentType(_ value: String) -> HTTPHeader {
        HTTPHeader(name: "Content-Type", value: value)
    }

    /// A `Priority` header (RFC 9218). Servers can use it to order the responses that share a connection.
    ///
    /// - Parameters:
    ///   - urgency: A number from 0 (most urgent) to 7 (for example, a download in the background). Other numbers are clamped. The default
    ///     is 3.
    ///   - isIncremental: Whether each part of the response is useful when it arrives. If true, servers can send parts of several
    ///     such responses in turns. The default is false.
    public static func priority(urgency: Int = 3, isIncremental: Bool = false) -> HTTPHeader {
        HTTPHeader(name: "Priority", value: "u=\(min(max(urgency, 0), 7))\(isIncremental ? ", i" : "")")
    }

    /// A `User-Agent` header.
    public static func userAgent(_ value: String) -> HTTPHeader {
        HTTPHeader(name: "User-Agent", value: value)
    }

    /// A `Sec-WebSocket-Protocol` header.
    public static func websocketProtocol(_ value: String) -> HTTPHeader {
        HTTPHeader(name: "Sec-WebSocket-Protocol", value: value)
    }
}

extension HTTPHeader {
    /// The `Accept-Encoding` header in ``HTTPHeaders/default``: `gzip;q=1.0, deflate;q=0.9`. All transports decode these codings
    /// on all platforms.
    ///
    /// If a session's configuration has this value, the session replaces it with the codings that its transport decodes.
    public static let defaultAcceptEncoding = HTTPHeader.acceptEncoding(qualityList(["gzip", "deflate"]))

    /// The default `Accept-Language` header of requests: the user's first six languages, in order of preference.
    ///
    /// On Apple platforms these are the system's languages. On other platforms they are read from the environment on first use.
    /// The list in `LANGUAGE` precedes the locale in `LC_ALL`, `LC_MESSAGES` or `LANG`. In the locale `C`, or if nothing is set,
    /// the value is `*`, and `HTTPHeaders.default` doesn't contain the header.
    public static let defaultAcceptLanguage = HTTPHeader.acceptLanguage(
        PreferredLanguages.current.isEmpty ? "*" : qualityList(PreferredLanguages.current.prefix(6))
    )

    /// The default `User-Agent` header of requests, such as `Shop/2.1 (org.example.Shop; build:14; Linux 6.1.0) Afar/0.1.0`.
    /// Unknown parts are omitted: a program without a bundle sends `shop (Linux 6.1.0) Afar/0.1.0`.
    public static let defaultUserAgent: HTTPHeader = {
        let bundle = Bundle.main.infoDictionary ?? [:]
        func fact(_ key: String) -> String? { bundle[key] as? String }
        let process = ProcessInfo.processInfo
        let system = process.operatingSystemVersion
        return .userAgent(
            userAgentText(
                name: fact("CFBundleExecutable") ?? process.processName,
                version: fact("CFBundleShortVersionString"),
                bundle: fact("CFBundleIdentifier"),
                build: fact("CFBundleVersion"),
                system: systemName.map { "\($0) \(system.majorVersion).\(system.minorVersion).\(system.patchVersion)" }
            )
        )
    }()

    /// Returns the values with decreasing quality: `en;q=1.0, fr;q=0.9`.
    static func qualityList(_ values: some Sequence<String>) -> String {
        values.enumerated()
            .map { index, value in index == 0 ? "\(value);q=1.0" : "\(value);q=0.\(max(10 - index, 1))" }
            .joined(separator: ", ")
    }

    /// Returns the text of a user agent. Characters other than printable ASCII are replaced by `_`, because a program's name can
    /// contain characters that a header can't.
    static func userAgentText(
        name: String, version: String?, bundle: String?, build: String?, system: String?
    ) -> String {
        let facts = [bundle, build.map { "build:\($0)" }, system].compactMap { $0 }.joined(separator: "; ")
        let product = name + (version.map { "/\($0)" } ?? "")
        let text = "\(product) \(facts.isEmpty ? "" : "(\(facts)) ")Afar/\(AFInfo.version)"
        return String(text.map { $0.isASCII && (" "..."~").contains($0) ? $0 : "_" })
    }

    private static var systemName: String? {
        #if os(Linux)
            "Linux"
        #elseif os(macOS)
            "macOS"
        #elseif os(iOS)
            "iOS"
        #elseif os(tvOS)
            "tvOS"
        #elseif os(watchOS)
            "watchOS"
        #elseif os(visionOS)
            "visionOS"
        #elseif os(Windows)
            "Windows"
        #elseif os(Android)
            "Android"
        #else
            nil
        #endif
    }
}

/// Information about this library.
public enum AFInfo {
    /// The semantic version (semver.org).
    public static let version = "0.1.0"
}

/// The user's preferred languages as BCP 47 tags, in order of preference.
enum PreferredLanguages {
    /// The system's languages, or an empty array if they are unknown.
    ///
    /// On Linux, Foundation returns international English regardless of the user's choice.
    static var current: [String] {
        #if canImport(Darwin)
            Locale.preferredLanguages
        #else
            tags(in: ProcessInfo.processInfo.environment) ?? Locale.preferredLanguages.filter { $0 != "en-001" }
        #endif
    }

    /// Returns the languages in an environment, according to POSIX and GNU gettext. The first non-empty variable of `LC_ALL`,
    /// `LC_MESSAGES` and `LANG` contains the locale. Unless the locale is `C`, the list in `LANGUAGE` takes precedence.
    ///
    /// - Returns: Nil if no language is specified, as in the locale `C`.
    static func tags(in environment: [String: String]) -> [String]? {
        let locale = ["LC_ALL", "LC_MESSAGES", "LANG"].lazy.compactMap { environment[$0] }.first { !$0.isEmpty }
        guard let locale, let language = tag(ofLocale: locale) else { return nil }
        let list = (environment["LANGUAGE"] ?? "").split(separator: ":").compactMap { tag(ofLocale: String($0)) }
        var seen: Set<String> = []
        return (list + [language]).filter { seen.insert($0).inserted }
    }

    /// Returns the tag of a locale such as `de_AT.UTF-8` or `sr_RS@latin`, or nil for `C`, `POSIX` and invalid names.
    static func tag(ofLocale locale: String) -> String? {
        let parts = locale.split(separator: "@", maxSplits: 1, omittingEmptySubsequences: false)
        let name = parts[0].prefix { $0 != "." }
        let subtags = name.split(separator: "_", omittingEmptySubsequences: false)
        guard subtags[0].isLetters(2...3) else { return nil }
        guard subtags.dropFirst().allSatisfy({ $0.isLetters(2...2) || $0.isLetters(4...4) || $0.isAreaNumber }) else {
            return nil
        }
        let script = parts.count > 1 ? scripts[parts[1].lowercased()] : nil
        return ([String(subtags[0])] + (script.map { [$0] } ?? []) + subtags.dropFirst().map(String.init))
            .joined(separator: "-")
    }

    /// glibc's locale modifiers for scripts, with the script subtags.
    private static let scripts = ["latin": "Latn", "cyrillic": "Cyrl", "devanagari": "Deva"]
}

extension Substring {
    fileprivate func isLetters(_ counts: ClosedRange<Int>) -> Bool {
        counts.contains(utf8.count) && allSatisfy { $0.isASCII && $0.isLetter }
    }

    fileprivate var isAreaNumber: Bool {
        utf8.count == 3 && allSatisfy { $0.isASCII && $0.isNumber }
    }
}
