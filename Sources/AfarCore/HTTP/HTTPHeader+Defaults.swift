import Foundation

extension HTTPHeader {
    /// The `Accept-Encoding` in ``HTTPHeaders/default``: `gzip;q=1.0, deflate;q=0.9`, which both transports decode everywhere.
    ///
    /// A session whose configuration has this value sends the codings that its transport decodes instead.
    public static let defaultAcceptEncoding = HTTPHeader.acceptEncoding(qualityList(["gzip", "deflate"]))

    /// The `Accept-Language` of every request that has none: the user's first six languages, best first.
    ///
    /// On Apple's platforms these are the system's. Elsewhere they are what the environment names when this is first used:
    /// the list in `LANGUAGE`, then the locale in `LC_ALL`, `LC_MESSAGES` or `LANG`. In the locale `C`, and where nothing
    /// is set, the value is `*`, and `HTTPHeaders.default` doesn't contain the header.
    public static let defaultAcceptLanguage = HTTPHeader.acceptLanguage(
        PreferredLanguages.current.isEmpty ? "*" : qualityList(PreferredLanguages.current.prefix(6))
    )

    /// The `User-Agent` of every request that has none, as in
    /// `Shop/2.1 (org.example.Shop; build:14; Linux 6.1.0) Afar/0.1.0`. What is unknown is left out: a program without a
    /// bundle sends `shop (Linux 6.1.0) Afar/0.1.0`.
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

    /// The values with falling quality: `en;q=1.0, fr;q=0.9`.
    static func qualityList(_ values: some Sequence<String>) -> String {
        values.enumerated()
            .map { index, value in index == 0 ? "\(value);q=1.0" : "\(value);q=0.\(max(10 - index, 1))" }
            .joined(separator: ", ")
    }

    /// A user agent's text. What is not printable ASCII becomes `_`: a program may bear any file name, a header may not.
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

/// Facts about this library.
public enum AFInfo {
    /// The version, in the sense of semver.org.
    public static let version = "0.1.0"
}
