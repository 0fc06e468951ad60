import Afar
import Foundation
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Caching and cookies, as in apps that use Alamofire.
struct CachingTests {
    /// Caches only small responses, and counts them.
    final class SmallResponses: CachedResponseHandler {
        func dataTask(
            _ task: URLSessionDataTask, willCacheResponse response: CachedURLResponse,
            completion: @escaping (CachedURLResponse?) -> Void
        ) {
            completion(response.data.count < 1_000 ? response : nil)
        }
    }

    @Test func handlersCanBeSetOnSessionsAndRequests() {
        let configuration = URLSessionConfiguration.af.default
        configuration.urlCache = URLCache(memoryCapacity: 1_000_000, diskCapacity: 0, diskPath: nil)
        configuration.requestCachePolicy = .returnCacheDataElseLoad
        let session = Session(
            configuration: configuration, startRequestsImmediately: false, cachedResponseHandler: ResponseCacher.cache)
        #expect(session.cachedResponseHandler is ResponseCacher)
        let modifier = ResponseCacher(
            behavior: .modify { _, response in
                CachedURLResponse(
                    response: response.response, data: response.data, userInfo: ["date": Date()],
                    storagePolicy: .allowed)
            })
        let handlers: [any CachedResponseHandler] = [ResponseCacher.doNotCache, modifier, SmallResponses()]
        for handler in handlers {
            let request = session.request("https://example.com/").cacheResponse(using: handler)
            #expect(request.cachedResponseHandler != nil)
        }
        let request = session.request("https://example.com/").cacheResponse(using: .doNotCache)
        request.cacheResponse(using: .modify { _, response in response })
        session.sessionConfiguration.urlCache?.removeAllCachedResponses()
    }

    @Test func cookiesAreFoundations() throws {
        let configuration = URLSessionConfiguration.af.ephemeral
        configuration.httpShouldSetCookies = true
        configuration.httpCookieAcceptPolicy = .always
        let cookie = try #require(
            HTTPCookie(properties: [.domain: "example.com", .path: "/", .name: "a", .value: "1"]))
        configuration.httpCookieStorage?.setCookie(cookie)
        let session = Session(configuration: configuration, startRequestsImmediately: false)
        #expect(session.sessionConfiguration.httpCookieStorage?.cookies?.map(\.name) == ["a"])
        let headers = HTTPHeaders(HTTPCookie.requestHeaderFields(with: [cookie]))
        #expect(headers["Cookie"] == "a=1")
    }
}
