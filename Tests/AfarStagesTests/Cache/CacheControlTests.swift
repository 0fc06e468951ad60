import AfarStages
import Testing

struct CacheControlTests {
    @Test func directivesAreParsedLeniently() {
        let control = CacheControl([
            "PUBLIC, Max-Age = 1", "max-age=60 ,, must-revalidate", "no-cache=\"Set-Cookie, a\", x=y",
        ])
        #expect(control.isPublic && control.mustRevalidate && control.noCache && !control.noStore)
        #expect(CacheControl(["max-age=\"60\""]).maxAge == 60)
        #expect(CacheControl(["private=\"x, no-store\""]).noStore == false)
    }

    @Test(arguments: [
        ("max-age=60", 60.0), ("max-age=0", 0), ("max-age", 0), ("max-age=-1", 0), ("max-age=1.5", 0), ("max-age=x", 0),
        ("max-age=99999999999999999999", 2_147_483_648), ("max-age=60, max-age=10", 10), ("max-age=10, max-age=60", 10),
    ])
    func invalidSecondsAreIgnored(text: String, seconds: Double) { #expect(CacheControl([text]).maxAge == seconds) }

    @Test func maxStaleWithoutAValueIsUnlimited() {
        #expect(CacheControl(["max-stale"]).maxStale == .infinity)
        #expect(CacheControl(["max-stale=5"]).maxStale == 5)
        #expect(CacheControl(["min-fresh=x"]).minFresh == .infinity)
        let control = CacheControl(["stale-while-revalidate=7, stale-if-error=8, only-if-cached, must-understand"])
        #expect(control.staleWhileRevalidate == 7 && control.staleIfError == 8)
        #expect(control.onlyIfCached && control.mustUnderstand)
    }
}
