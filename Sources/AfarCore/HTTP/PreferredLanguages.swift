import Foundation

/// The languages that the user wants to read, best first, as tags of BCP 47.
enum PreferredLanguages {
    /// The system's languages; empty when they are unknown.
    ///
    /// On Linux Foundation returns international English whatever the user has chosen.
    static var current: [String] {
        #if canImport(Darwin)
            Locale.preferredLanguages
        #else
            tags(in: ProcessInfo.processInfo.environment) ?? Locale.preferredLanguages.filter { $0 != "en-001" }
        #endif
    }

    /// The languages that an environment names as POSIX and GNU gettext have it: the first of `LC_ALL`, `LC_MESSAGES` and
    /// `LANG` that is not empty names the locale; unless that is `C`, the list in `LANGUAGE` goes before it.
    ///
    /// - Returns: nil if no language is named, as in the locale `C`.
    static func tags(in environment: [String: String]) -> [String]? {
        let locale = ["LC_ALL", "LC_MESSAGES", "LANG"].lazy.compactMap { environment[$0] }.first { !$0.isEmpty }
        guard let locale, let language = tag(ofLocale: locale) else { return nil }
        let list = (environment["LANGUAGE"] ?? "").split(separator: ":").compactMap { tag(ofLocale: String($0)) }
        var seen: Set<String> = []
        return (list + [language]).filter { seen.insert($0).inserted }
    }

    /// The tag of a locale such as `de_AT.UTF-8` or `sr_RS@latin`; nil for `C`, `POSIX` and what is no locale's name.
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

    /// The modifiers of locales that name a script, as glibc has them, and that script's subtag.
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
