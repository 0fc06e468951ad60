import AfarPublicSuffix
import AfarStages
import Foundation
import Testing

struct SystemPublicSuffixListTests {
    private let list = SystemPublicSuffixList.shared

    @Test func namesWithoutADotArePublic() {
        for name in ["com", "localhost", "no-such-name"] { #expect(list.isPublicSuffix(name), "\(name)") }
    }

    #if os(Linux)
        @Test(arguments: [
            ("co.uk", true), ("github.io", true), ("xn--p1ai", true), ("kawasaki.jp", true), ("foo.kawasaki.jp", true),
            ("example.com", false), ("example.co.uk", false), ("city.kawasaki.jp", false), ("user.github.io", false),
        ])
        func theListMatchesMozillas(name: String, isPublic: Bool) { #expect(list.isPublicSuffix(name) == isPublic) }

        @Test func cookiesForAPublicSuffixAreRejected() throws {
            let rules = CookieRules(publicSuffixes: list)
            let url = try #require(CookieURL(URL(string: "https://shop.example.co.uk/")!))
            #expect(rules.cookie(from: "a=1; Domain=co.uk", of: url) == nil)
            #expect(rules.cookie(from: "a=1; Domain=example.co.uk", of: url)?.isHostOnly == false)
            let suffix = try #require(CookieURL(URL(string: "https://github.io/")!))
            #expect(rules.cookie(from: "a=1; Domain=github.io", of: suffix)?.isHostOnly == true)
        }
    #endif
}
