import AfarStages
import Foundation
import HTTPTypes
import Testing

/// The freshness lifetime and the age of responses (RFC 9111, section 4.2).
struct CacheFreshnessTests {
    private typealias Fields = [(String, String)]

    private func lifetime(_ texts: [(String, String)], status: Int = 200) -> Double? {
        CacheExchange.kept(texts + [("ETag", "\"1\"")], status: status)?.terms.freshnessLifetime
    }

    @Test func maxAgeOverridesExpires() {
        let expires = ("Expires", "Sun, 06 Nov 1994 09:49:37 GMT")
        #expect(lifetime([expires]) == 3600)
        #expect(lifetime([expires, ("Cache-Control", "max-age=60")]) == 60)
        #expect(lifetime([expires, ("Cache-Control", "max-age=oops")]) == 0)
    }

    @Test func sharedCacheDirectivesAreIgnored() {
        #expect(lifetime([("Cache-Control", "s-maxage=600, max-age=60, proxy-revalidate")]) == 60)
        #expect(CacheExchange.kept([("Cache-Control", "private, max-age=60")]) != nil)
    }

    @Test(arguments: [
        "0", "-1", "soon", "", "Sun, 06 Nov 1994 08:49:36 GMT", "Thu, 18 Aug 50 02:01:18 GMT",
        "Thu, 18 Aug  2050 02:01:18 GMT", "Thu, 18-Aug-2050 02:01:18 GMT",
    ])
    func expiredResponsesAreNotFresh(expires: String) { #expect(lifetime([("Expires", expires)]) == 0) }

    @Test func theEarliestExpiryIsUsed() {
        #expect(
            lifetime([("Expires", "Sun, 06 Nov 1994 09:49:37 GMT"), ("Expires", "Sun, 06 Nov 1994 08:50:37 GMT")]) == 60
        )
    }

    @Test(arguments: ["Sunday, 06-Nov-94 09:49:37 GMT", "Sun Nov  6 09:49:37 1994"])
    func obsoleteDatesAreRead(expires: String) { #expect(lifetime([("Expires", expires)]) == 3600) }

    @Test func namesInADateAreCaseInsensitive() {
        #expect(lifetime([("Expires", "SUN, 06 NOV 1994 09:49:37 gmt")]) == 3600)
    }

    @Test func heuristicFreshnessIsATenthOfTheAge() {
        let modified = ("Last-Modified", "Sun, 06 Nov 1994 08:32:57 GMT")
        #expect(lifetime([modified]) == 100)
        #expect(lifetime([modified, ("Cache-Control", "max-age=5")]) == 5)
        #expect(lifetime([("Last-Modified", "Sun, 06 Nov 1904 08:32:57 GMT")]) == 604_800)
        #expect(lifetime([("Last-Modified", "Mon, 07 Nov 1994 08:32:57 GMT")]) == 0)
        #expect(lifetime([modified], status: 404) == 100)
        #expect(lifetime([modified, ("Cache-Control", "public")], status: 299) == 100)
        #expect(lifetime([modified], status: 299) == nil)
    }

    private func age(
        _ texts: [(String, String)], delay: Double = 0, after seconds: Double = 0, isDated: Bool = true
    ) -> Double? {
        let response = CacheExchange.kept(
            texts + [("Cache-Control", "max-age=60")], requestedAt: CacheExchange.start - delay, isDated: isDated)
        return response?.terms.age(at: CacheExchange.start + seconds)
    }

    @Test func ageCountsFromTheResponsesCreation() {
        #expect(age([]) == 0 && age([], after: 7) == 7)
        // Section 4.2.3: the response delay is added to the Age header.
        #expect(age([("Age", "10")], delay: 3, after: 7) == 20)
        #expect(age([("Age", "10, 90")]) == 10 && age([("Age", "10"), ("Age", "90")]) == 10)
        #expect(age([("Age", "-5")]) == 0 && age([("Age", "x")]) == 0)
    }

    @Test func anOldDateIncreasesTheAge() {
        #expect(age([("Date", "Sun, 06 Nov 1994 08:48:37 GMT")], isDated: false) == 60)
        #expect(age([("Date", "Sun, 06 Nov 1994 08:48:37 GMT"), ("Age", "90")], isDated: false) == 90)
        #expect(age([("Date", "Sun, 06 Nov 1994 08:59:37 GMT")], isDated: false) == 0)
        #expect(age([], isDated: false) == 0)
    }

    @Test(arguments: [true, false]) func aClockThatWasSetBackMakesAResponseStale(isDated: Bool) throws {
        let response = try #require(CacheExchange.kept([("Cache-Control", "max-age=60")], isDated: isDated))
        func decision(_ seconds: Double) -> String {
            let now = CacheExchange.start + seconds
            return CacheRules.decide(CacheExchange.request(), .standard, among: [response], at: now).name
        }
        #expect(decision(-86_400) == "send" && decision(-2) == "send")
        // Clock adjustments by fractions of a second are common.
        #expect(decision(-0.5) == "use" && decision(0) == "use")
        #expect(age([("Age", "10")], after: -0.5) == 10)
    }
}
