import AfarStages
import Foundation
import HTTPTypes
import Testing

/// Validation and invalidation of responses (RFC 9111, sections 3.2, 4.3 and 4.4).
struct CacheValidationTests {
    private let modified = ("Last-Modified", "Sun, 06 Nov 1994 08:32:57 GMT")

    private func kept(_ texts: [(String, String)]) throws -> CachedResponse {
        try #require(CacheExchange.kept([("Cache-Control", "max-age=60")] + texts))
    }

    @Test func bothValidatorsAreSent() throws {
        let conditions = CacheRules.conditions(for: try kept([("ETag", "W/\"1\""), modified]))
        #expect(conditions[.ifNoneMatch] == "W/\"1\"" && conditions[.ifModifiedSince] == modified.1)
        let one = CacheRules.conditions(for: try kept([modified]))
        #expect(one[.ifNoneMatch] == nil && one[.ifModifiedSince] == modified.1)
    }

    private func updated(
        _ response: CachedResponse, _ texts: [(String, String)]
    ) -> CachedResponse? {
        CacheRules.updated(
            response, by: CacheExchange.head(304, texts), requestDate: CacheExchange.start + 100,
            responseDate: CacheExchange.start + 101)
    }

    @Test func newFieldsReplaceOldOnes() throws {
        let old = try kept([
            ("ETag", "\"1\""), ("X-A", "1"), ("X-A", "2"), ("X-B", "3"), ("Content-Length", "4"), ("Age", "50"),
            ("Content-Type", "text/plain"),
        ])
        let new = try #require(
            updated(
                old,
                [
                    ("ETag", "\"1\""), ("X-A", "9"), ("Content-Length", "0"), ("Cache-Control", "max-age=7"),
                    ("Connection", "X-C"),
                    ("X-C", "1"), ("Content-Type", "text/html"), ("Content-Encoding", "gzip"),
                ]))
        #expect(new.fields[values: HTTPField.Name("X-A")!] == ["9"] && new.fields[HTTPField.Name("X-B")!] == "3")
        #expect(new.fields[.contentLength] == "4" && new.fields[.contentType] == "text/plain")
        #expect(new.fields[.contentEncoding] == nil && new.fields[HTTPField.Name("X-C")!] == nil)
        #expect(new.terms.freshnessLifetime == 7 && new.body == old.body && new.status == 200)
        // The response is as new as the one that confirmed it.
        #expect(new.fields[.age] == nil && new.responseDate == CacheExchange.start + 101)
    }

    @Test func a304ForAnotherResponseIsIgnored() throws {
        let old = try kept([("ETag", "\"1\"")])
        #expect(updated(old, [("ETag", "\"2\"")]) == nil)
        #expect(updated(old, [("ETag", "W/\"1\"")]) != nil && updated(old, []) != nil)
    }

    @Test func aHEADResponseUpdatesTheGETResponse() throws {
        let old = try kept([("ETag", "\"1\""), ("Content-Length", "4"), modified])
        #expect(CacheRules.agrees(CacheExchange.head(200, [("ETag", "\"1\""), ("Content-Length", "4")]), with: old))
        #expect(CacheRules.agrees(CacheExchange.head(200, []), with: old))
        for (name, value) in [("ETag", "\"2\""), ("Content-Length", "5"), ("Last-Modified", CacheExchange.date)] {
            #expect(!CacheRules.agrees(CacheExchange.head(200, [(name, value)]), with: old))
        }
    }

    private func invalidated(
        _ method: HTTPRequest.Method, _ status: Int = 200, _ texts: [(String, String)] = []
    ) -> [String] {
        CacheRules.invalidated(by: CacheExchange.head(status, texts), to: CacheExchange.request(method))
    }

    @Test func unsafeMethodsInvalidateResponses() {
        for method in [HTTPRequest.Method.post, .put, .delete, .patch] {
            #expect(invalidated(method) == [CacheExchange.url] && invalidated(method, 303) == [CacheExchange.url])
            #expect(invalidated(method, 404) == [] && invalidated(method, 500) == [])
        }
        for method in [HTTPRequest.Method.get, .head, .options, .trace] { #expect(invalidated(method) == []) }
        #expect(invalidated(HTTPRequest.Method("FROB")!) == [CacheExchange.url])
    }

    @Test func relatedURLsOfTheSameOriginAreInvalidated() {
        #expect(
            invalidated(.post, 201, [("Location", "/new?x=1#part"), ("Content-Location", "http://CACHE.example:80/c")])
                == [CacheExchange.url, "http://cache.example/new?x=1", "http://cache.example/c"])
        // The URL that a redirect to this location would request.
        #expect(
            invalidated(.post, 201, [("Location", "::"), ("Content-Location", "/[]?x=%26|")])
                == [CacheExchange.url, "http://cache.example/::", "http://cache.example/[]?x=%26|"])
        for foreign in ["http://other.example/", "https://cache.example/", "http://cache.example:81/", "mailto:x"] {
            #expect(invalidated(.post, 201, [("Location", foreign)]) == [CacheExchange.url], "\(foreign)")
        }
    }
}
