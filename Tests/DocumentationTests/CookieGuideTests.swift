import Afar
import Foundation
import Testing

/// Runs the samples in the cookie guide.
struct CookieGuideTests {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "cookies-\(UUID().uuidString)")

    @Test(arguments: [true, false])
    func theProgramsCookiesAreStored(isInFile: Bool) throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let (session, file) = try CookieSamples.stored(in: folder.appending(path: "cookies.txt"))
        #expect(session.cookieStore as? FileCookieStore === file)
        let store: any CookieStore = isInFile ? file : CookieSamples.LockedCookies()
        let url = try #require(URL(string: "https://shop.example.com/basket"))
        #expect(CookieSamples.own(in: store, for: url) == ["theme"])
        store.remove { _ in true }
        #expect(store.isEmpty)
        #expect(CookieSamples.suffixes().configuration.publicSuffixList != nil)
        #expect(try CookieSamples.hsts(in: folder.appending(path: "hsts.txt")).configuration.hstsStore != nil)
        try file.flush()
    }
}
