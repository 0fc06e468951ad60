import Afar
import AfarDiskCache
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

enum CachingSamples {
    static func memory() -> Session {
        var configuration = SessionConfiguration.default
        configuration.cacheStore = MemoryCacheStore(capacity: 32 * 1024 * 1024)
        let session = Session(configuration: configuration)
        return session
    }

    static func handlers(_ configuration: SessionConfiguration) -> Session {
        let session = Session(configuration: configuration, cachedResponseHandler: .doNotCache)
        let small = ResponseCacher(behavior: .modify { _, response in response.data.count < 10_000 ? response : nil })
        session.request("https://api.example.com/rates").cacheResponse(using: small)
        return session
    }

    static func disk(_ configuration: inout SessionConfiguration) async throws {
        let store = try DiskCacheStore(directory: URL(filePath: "/var/cache/my-tool"), capacity: 100_000_000)
        configuration.cacheStore = store
        // …
        await store.flush()
    }
}
