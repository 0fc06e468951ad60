import HTTPTypes
import Testing

@testable import AfarTransport

struct OriginTests {
    private func origin(_ scheme: String, _ authority: String) -> Origin {
        Origin(HTTPRequest(method: .get, scheme: scheme, authority: authority, path: "/"))
    }

    @Test(arguments: [
        ("http", "a", "http", "a:80"), ("https", "a:443", "https", "A"), ("HTTP", "a", "http", "a"),
        ("http", "[::1]:80", "http", "[::1]"),
    ])
    func spellingsOfOneOriginAreEqual(scheme: String, authority: String, otherScheme: String, other: String) {
        #expect(origin(scheme, authority) == origin(otherScheme, other))
    }

    @Test(arguments: [
        ("http", "a", "https", "a"), ("http", "a", "http", "b"), ("http", "a", "http", "a:443"),
        ("https", "a", "https", "a:80"), ("http", "a", "http", "a."), ("http", "a:8080", "http", "a:80"),
        ("http", "[::80]", "http", "[::]"), ("http", "a", "http", "sub.a"), ("http", "a:80", "https", "a:443"),
    ])
    func originsDifferInSchemeHostOrPort(
        scheme: String, authority: String, otherScheme: String, other: String
    ) {
        #expect(origin(scheme, authority) != origin(otherScheme, other))
    }
}
