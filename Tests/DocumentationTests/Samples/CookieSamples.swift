import Afar
import Synchronization

/// The samples of Docs/Caching-and-Cookies.md about cookies and HSTS.
enum CookieSamples {
    static func kept() async throws {
        let session = Session()
        _ = try await session.request("https://shop.example.com/login", method: .post).serializingData().value
        let basket = try await session.request("https://shop.example.com/basket").serializingString().value
        for cookie in session.cookieStore?.all ?? [] { print(cookie.name, cookie.domain, cookie.path) }
        _ = basket
    }

    static func stored(in file: URL) throws -> (Session, FileCookieStore) {
        var configuration = SessionConfiguration.default
        let store = try FileCookieStore(file: file)
        configuration.cookieStore = store
        let session = Session(configuration: configuration)
        return (session, store)
    }

    static func suffixes() -> Session {
        var configuration = SessionConfiguration.default
        configuration.publicSuffixList = SystemPublicSuffixList.shared
        let session = Session(configuration: configuration, transport: CurlTransport())
        return session
    }

    static func own(in store: any CookieStore, for url: URL) -> [String] {
        if let cookie = Cookie(name: "theme", value: "dark", domain: "shop.example.com", isSecure: true) {
            store.store(cookie)
        }
        store.remove { $0.domain == "ads.example.com" }
        let sent = store.cookies(for: url).map(\.name)
        return sent
    }

    final class LockedCookies: CookieStore {
        private let jar = Mutex(CookieJar())

        var isEmpty: Bool { jar.withLock { $0.isEmpty } }
        var all: [Cookie] { jar.withLock { $0.all() } }

        func cookies(for url: CookieURL, now: Date) -> [Cookie] { jar.withLock { $0.cookies(for: url, now: now) } }

        func store(_ cookies: [Cookie], from url: CookieURL?, now: Date) {
            jar.withLock { jar in
                for cookie in cookies { jar.store(cookie, from: url, now: now) }
            }
        }

        func remove(where shouldRemove: (Cookie) -> Bool) {
            let chosen = Set(all.filter(shouldRemove))
            jar.withLock { jar in jar.remove { chosen.contains($0) } }
        }

        func removeAll() { jar.withLock { $0.removeAll() } }
    }

    static func hsts(in file: URL) throws -> Session {
        var configuration = SessionConfiguration.default
        configuration.hstsStore = try FileHSTSStore(file: file)
        let session = Session(configuration: configuration)
        return session
    }
}
