import Foundation
import Testing

@testable import AfarCore

@Suite("Preferred languages")
struct PreferredLanguagesTests {
    @Test(
        "a locale's name is converted to a language tag",
        arguments: [
            ("de", "de"), ("de_AT", "de-AT"), ("de_AT.UTF-8", "de-AT"), ("de_DE@euro", "de-DE"),
            ("de_DE.ISO-8859-15@euro", "de-DE"), ("sr_RS@latin", "sr-Latn-RS"), ("sr_RS.UTF-8@latin", "sr-Latn-RS"),
            ("uz_UZ@cyrillic", "uz-Cyrl-UZ"), ("zh_Hant_TW", "zh-Hant-TW"), ("es_419", "es-419"), ("ast_ES", "ast-ES"),
        ])
    func tags(locale: String, tag: String) {
        #expect(PreferredLanguages.tag(ofLocale: locale) == tag)
    }

    @Test(
        "names without a language have no tag",
        arguments: [
            "", "C", "C.UTF-8", "POSIX", "/usr/share/i18n", "de_", "_DE", "de-DE,x", "d", "é", "de_DE\r\nX: 1",
            "@latin",
            ".UTF-8", "de_1", "de;q=1",
        ])
    func noTags(locale: String) {
        #expect(PreferredLanguages.tag(ofLocale: locale) == nil)
    }

    @Test(
        "the environment variables have the same meaning as in gettext",
        arguments: [
            ([:], nil), (["LANG": "C"], nil), (["LANG": "C.UTF-8", "LANGUAGE": "fr"], nil), (["LANGUAGE": "fr"], nil),
            (["LANG": "de_DE.UTF-8"], ["de-DE"]),
            (["LANG": "de_DE.UTF-8", "LC_MESSAGES": "fr_FR.UTF-8"], ["fr-FR"]),
            (["LANG": "de_DE.UTF-8", "LC_MESSAGES": "fr_FR", "LC_ALL": "it_IT"], ["it-IT"]),
            (["LANG": "de_DE.UTF-8", "LC_ALL": ""], ["de-DE"]), (["LANG": "de_DE.UTF-8", "LC_ALL": "C"], nil),
            (["LANG": "de_DE.UTF-8", "LC_TIME": "fr_FR"], ["de-DE"]),
            (["LANG": "de_AT.UTF-8", "LANGUAGE": "de:en_GB:en:C:"], ["de", "en-GB", "en", "de-AT"]),
            (["LANG": "en_GB.UTF-8", "LANGUAGE": "fr:en_GB:fr"], ["fr", "en-GB"]),
        ] as [([String: String], [String]?)])
    func environment(environment: [String: String], languages: [String]?) {
        #expect(PreferredLanguages.tags(in: environment) == languages)
    }

    @Test("the languages come from the environment, if specified, and are valid tags")
    func current() {
        let named = PreferredLanguages.tags(in: ProcessInfo.processInfo.environment)
        #expect(PreferredLanguages.current == named ?? [])
        #expect(HTTPHeaders.default["Accept-Language"] == named.map { _ in HTTPHeader.defaultAcceptLanguage.value })
        #expect(named != nil || HTTPHeader.defaultAcceptLanguage.value == "*")
        for language in PreferredLanguages.current {
            #expect(language.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") })
        }
    }
}
