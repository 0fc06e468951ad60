import AfarStages
import Foundation
import HTTPTypes
import Testing

/// Decisions about requests with a stored response (RFC 9111, sections 4 and 5.2.1; RFC 5861).
struct CacheDecisionTests {
    /// Returns the decision about a response with an entity tag, a number of seconds after it was received.
    private func decision(
        _ control: String, _ wanted: String? = nil, after seconds: Double, policy: CachePolicy = .standard,
        hasValidator: Bool = true
    ) throws -> String {
        let tag = hasValidator ? [("ETag", "\"1\"")] : []
        let response = try #require(CacheExchange.kept([("Cache-Control", control)] + tag))
        let request = CacheExchange.request(.get, wanted.map { [("Cache-Control", $0)] } ?? [])
        return CacheRules.decide(request, policy, among: [response], at: CacheExchange.start + seconds).name
    }

    @Test func freshResponsesAreUsed() throws {
        #expect(try decision("max-age=60", after: 59) == "use")
        #expect(try decision("max-age=60", after: 60) == "validate")
        #expect(try decision("max-age=60", after: 61, hasValidator: false) == "send")
    }

    @Test func noCacheResponsesAreValidated() throws {
        #expect(try decision("max-age=60, no-cache", after: 1) == "validate")
        #expect(try decision("max-age=60, no-cache=\"x\"", after: 1) == "validate")
        #expect(try decision("max-age=60, no-cache, stale-while-revalidate=60", after: 61) == "validate")
    }

    @Test func requestsCanRestrictFreshness() throws {
        #expect(try decision("max-age=60", "no-cache", after: 1) == "validate")
        #expect(try decision("max-age=60", "max-age=10", after: 10) == "use")
        #expect(try decision("max-age=60", "max-age=10", after: 11) == "validate")
        #expect(try decision("max-age=60", "max-age=0", after: 1) == "validate")
        #expect(try decision("max-age=60", "min-fresh=10", after: 50) == "use")
        #expect(try decision("max-age=60", "min-fresh=10", after: 51) == "validate")
        #expect(try decision("max-age=60", "min-fresh=nonsense", after: 1) == "validate")
    }

    @Test func pragmaAppliesWithoutCacheControl() throws {
        let response = try #require(CacheExchange.kept([("Cache-Control", "max-age=60"), ("ETag", "\"1\"")]))
        func decision(_ texts: [(String, String)]) -> String {
            CacheRules.decide(
                CacheExchange.request(.get, texts), .standard, among: [response], at: CacheExchange.start + 1
            ).name
        }
        #expect(decision([("Pragma", "No-Cache")]) == "validate")
        #expect(decision([("Pragma", "no-cache"), ("Cache-Control", "max-age=10")]) == "use")
    }

    @Test func requestsCanAcceptStaleResponses() throws {
        #expect(try decision("max-age=60", "max-stale", after: 6000) == "use")
        #expect(try decision("max-age=60", "max-stale=5", after: 65) == "use")
        #expect(try decision("max-age=60", "max-stale=5", after: 66) == "validate")
        #expect(try decision("max-age=60, must-revalidate", "max-stale", after: 61) == "validate")
        #expect(try decision("max-age=60", "max-stale, max-age=61", after: 62) == "validate")
    }

    @Test func aRequestCanRequireTheCache() throws {
        #expect(try decision("max-age=60", "only-if-cached", after: 1) == "use")
        #expect(try decision("max-age=60", "only-if-cached", after: 61) == "unavailable")
        let wanted = CacheExchange.request(.get, [("Cache-Control", "only-if-cached")])
        #expect(CacheRules.decide(wanted, .standard, among: [], at: CacheExchange.start).name == "unavailable")
    }

    @Test func aStaleResponseIsUsedWhileRevalidating() throws {
        #expect(try decision("max-age=60, stale-while-revalidate=10", after: 70) == "useAndRevalidate")
        #expect(try decision("max-age=60, stale-while-revalidate=10", after: 71) == "validate")
        #expect(try decision("max-age=60, stale-while-revalidate=10, must-revalidate", after: 61) == "validate")
        #expect(try decision("max-age=60, stale-while-revalidate=10", "max-age=60", after: 61) == "validate")
        #expect(try decision("max-age=60, stale-while-revalidate=10", "no-cache", after: 61) == "validate")
    }

    @Test func aStaleResponseIsUsedIfTheServerFails() throws {
        func serves(_ control: String, _ wanted: String? = nil, after seconds: Double) throws -> Bool {
            let response = try #require(CacheExchange.kept([("Cache-Control", control), ("ETag", "\"1\"")]))
            let request = CacheExchange.request(.get, wanted.map { [("Cache-Control", $0)] } ?? [])
            return CacheRules.canServeOnError(response, to: request.control, at: CacheExchange.start + seconds)
        }
        #expect(try serves("max-age=60, stale-if-error=10", after: 70))
        #expect(try !serves("max-age=60, stale-if-error=10", after: 71))
        #expect(try serves("max-age=60", "stale-if-error=10", after: 70))
        #expect(try !serves("max-age=60", after: 61))
        #expect(try !serves("max-age=60, stale-if-error=10, must-revalidate", after: 61))
        #expect(try !serves("max-age=60, stale-if-error=10", "no-cache", after: 61))
    }

    @Test func urlRequestPoliciesApply() throws {
        #expect(try decision("max-age=60", after: 1, policy: .reload) == "send")
        #expect(try decision("max-age=60", after: 6000, policy: .cacheElseLoad) == "use")
        #expect(try decision("max-age=60", after: 6000, policy: .cacheOnly) == "use")
        #expect(try decision("max-age=60", after: 1, policy: .revalidate) == "validate")
        let request = CacheExchange.request()
        #expect(CacheRules.decide(request, .cacheElseLoad, among: [], at: CacheExchange.start).name == "send")
        #expect(CacheRules.decide(request, .cacheOnly, among: [], at: CacheExchange.start).name == "unavailable")
        #expect(CacheRules.decide(request, .revalidate, among: [], at: CacheExchange.start).name == "send")
    }

    @Test(arguments: ["Range", "If-Range", "If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since"])
    func theCallersConditionsAreSentToTheServer(name: String) {
        #expect(!CacheRules.canUse(CacheExchange.request(.get, [(name, "x")])))
        #expect(
            CacheExchange.kept([("Cache-Control", "max-age=60")], to: CacheExchange.request(.get, [(name, "x")])) == nil
        )
    }

    @Test func otherMethodsAndBodiesAreNotCached() {
        #expect(CacheRules.canUse(CacheExchange.request()) && CacheRules.canUse(CacheExchange.request(.head)))
        for method in [HTTPRequest.Method.post, .put, .delete, .options, .patch, .connect] {
            #expect(!CacheRules.canUse(CacheExchange.request(method)))
        }
        #expect(!CacheRules.canUse(CacheExchange.request(body: .data(Data("x".utf8)))))
    }
}
