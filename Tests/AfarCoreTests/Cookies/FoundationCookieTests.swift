import AfarCore
import Foundation
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Cookies in Foundation's storage.
struct FoundationCookieTests {
    @Test func cookiesSurviveARoundTrip() throws {
        let date = Date(timeIntervalSince1970: 4_000_000_000)
        for cookie in [
            Cookie(name: "a", value: "1", domain: "example.com", creationDate: date),
            Cookie(name: "", value: "1", domain: "example.com", path: "/x", creationDate: date),
            Cookie(
                name: "b", value: "2", domain: "example.com", isHostOnly: false, path: "/x", expires: date,
                isSecure: true,
                isHTTPOnly: true, creationDate: date),
        ] {
            let cookie = try #require(cookie)
            let back = try #require(HTTPCookie(cookie).flatMap { Cookie($0) })
            #expect(back.name == cookie.name && back.value == cookie.value && back.domain == cookie.domain)
            #expect(back.isHostOnly == cookie.isHostOnly && back.path == cookie.path)
            #expect(back.expires == cookie.expires)
            #expect(back.isSecure == cookie.isSecure && back.isHTTPOnly == cookie.isHTTPOnly)
        }
    }

    @Test func anUnsendableFoundationCookieIsNotConverted() throws {
        let cookie = try #require(
            HTTPCookie(properties: [.name: "a", .value: "b\r\nX: y", .domain: "example.com", .path: "/"]))
        #expect(Cookie(cookie) == nil)
    }

    @Test func theStorageThatIsReadIsACopy() throws {
        var configuration = SessionConfiguration.default
        configuration.cookieStore?.store(try #require(Cookie(name: "a", value: "1", domain: "example.com")))
        let storage = try #require(configuration.httpCookieStorage)
        #expect(storage.cookies?.map(\.name) == ["a"])
        storage.cookies?.forEach(storage.deleteCookie)
        #expect(configuration.cookieStore?.all.count == 1)
        configuration.httpCookieStorage = storage
        #expect(configuration.httpCookieStorage === storage)
        #expect(configuration.cookieStore?.isEmpty == true)
        configuration.httpCookieStorage = nil
        #expect(configuration.cookieStore == nil && configuration.httpCookieStorage == nil)
    }

    @Test func aStorageFollowsTheRules() throws {
        let storage = try #require(URLSessionConfiguration.ephemeral.httpCookieStorage)
        let store = FoundationCookieStore(storage)
        let (secure, plain) = (URL(string: "https://a.example.com/x"), URL(string: "http://a.example.com/x"))
        let url = try #require(secure.flatMap(CookieURL.init))
        let insecure = try #require(plain.flatMap(CookieURL.init))
        let rules = CookieRules()
        for field in ["a=1; Secure", "b=2; Path=/", "c=3; Domain=example.com"] {
            store.store([try #require(rules.cookie(from: field, of: url))], from: url)
        }
        #expect(store.cookies(for: insecure).map(\.name) == ["b", "c"])
        store.store([try #require(rules.cookie(from: "a=2", of: insecure))], from: insecure)
        #expect(store.all.first { $0.name == "a" }?.value == "1")
        store.store([try #require(rules.cookie(from: "b=4; Path=/", of: url))], from: url)
        #expect(storage.cookies?.filter { $0.name == "b" }.map(\.value) == ["4"])
        store.remove { $0.name == "b" }
        #expect(Set(storage.cookies?.map(\.name) ?? []) == ["a", "c"])
        store.removeAll()
        #expect(store.isEmpty)
    }

    @Test func cookiesStoredByOthersAreSent() throws {
        let storage = try #require(URLSessionConfiguration.ephemeral.httpCookieStorage)
        let store = FoundationCookieStore(storage)
        for number in 0..<60 {
            storage.setCookie(
                try #require(
                    HTTPCookie(properties: [.name: "c\(number)", .value: "1", .domain: "a.test", .path: "/"])))
        }
        let url = try #require(URL(string: "https://a.test/").flatMap(CookieURL.init))
        #expect(store.cookies(for: url).count == 60 && store.all.count == 60)
        // Each new cookie from a server replaces the oldest one.
        for number in 0..<20 {
            store.store([try #require(CookieRules().cookie(from: "n\(number)=1", of: url))], from: url)
        }
        #expect(store.all.count == 60 && store.all.filter { $0.name.hasPrefix("n") }.count == 20)
    }
}
