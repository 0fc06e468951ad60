import AfarImage
import Foundation
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite struct ImageCacheTests {
    /// Creates an image of 400 bytes.
    private static func image(_ value: Int = 0) throws -> Image { try .of(10, 10) { _, _ in [value, 0, 0, 255] } }

    private static func request(_ url: String, _ headers: [String: String] = [:]) throws -> URLRequest {
        var request = URLRequest(url: try #require(URL(string: url)))
        for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) }
        return request
    }

    @Test func addedImagesAreFound() throws {
        let cache = AutoPurgingImageCache()
        #expect(cache.memoryCapacity == 100_000_000 && cache.preferredMemoryUsageAfterPurge == 60_000_000)
        cache.add(try Self.image(1), withIdentifier: "a")
        #expect(try cache.image(withIdentifier: "a") == Self.image(1))
        #expect(cache.image(withIdentifier: "b") == nil && cache.memoryUsage == 400)
        cache.add(try Self.image(2), withIdentifier: "a")
        #expect(try cache.image(withIdentifier: "a") == Self.image(2))
        #expect(cache.memoryUsage == 400)
        #expect(cache.removeImage(withIdentifier: "a") && !cache.removeImage(withIdentifier: "a"))
        #expect(cache.memoryUsage == 0 && !cache.removeAllImages())
    }

    @Test func theLeastRecentlyUsedImagesAreEvictedFirst() throws {
        let cache = AutoPurgingImageCache(memoryCapacity: 2_000, preferredMemoryUsageAfterPurge: 1_000)
        for name in ["a", "b", "c", "d", "e"] { cache.add(try Self.image(), withIdentifier: name) }
        #expect(cache.memoryUsage == 2_000)
        _ = cache.image(withIdentifier: "a")
        cache.add(try Self.image(), withIdentifier: "f")
        #expect(cache.memoryUsage == 800)
        #expect(["a", "b", "c", "d", "e", "f"].filter { cache.image(withIdentifier: $0) != nil } == ["a", "f"])
    }

    @Test func anImageLargerThanTheCacheIsNotKept() throws {
        let cache = AutoPurgingImageCache(memoryCapacity: 300, preferredMemoryUsageAfterPurge: 1_000)
        #expect(cache.preferredMemoryUsageAfterPurge == 300)
        cache.add(try Self.image(), withIdentifier: "a")
        #expect(cache.memoryUsage == 0 && cache.image(withIdentifier: "a") == nil)
    }

    @Test func everyFrameCounts() throws {
        let cache = AutoPurgingImageCache()
        cache.add(try Image(data: Fixtures.webPAnimated), withIdentifier: "a")
        #expect(cache.memoryUsage == 3 * 16 * 12 * 4)
    }

    @Test func requestsAreDistinguished() throws {
        let cache = AutoPurgingImageCache()
        let request = try Self.request("http://example.com/a")
        cache.add(try Self.image(1), for: request)
        cache.add(try Self.image(2), for: request, withIdentifier: "filter")
        cache.add(try Self.image(3), for: try Self.request("http://example.com/a-b"))
        cache.add(try Self.image(4), for: try Self.request("http://example.com/a", ["Authorization": "x"]))
        #expect(try cache.image(for: request) == Self.image(1))
        #expect(try cache.image(for: request, withIdentifier: "filter") == Self.image(2))
        #expect(cache.image(for: request, withIdentifier: "another") == nil)
        #expect(try cache.image(for: Self.request("http://example.com/a", ["Authorization": "y"])) == nil)
        #expect(cache.removeImage(for: request) && cache.image(for: request, withIdentifier: "filter") != nil)
        cache.add(try Self.image(1), for: request)
        #expect(cache.removeImages(matching: request) && !cache.removeImages(matching: request))
        #expect(cache.memoryUsage == 800)
    }

    @Test func manyThreadsShareACache() async throws {
        let cache = AutoPurgingImageCache(memoryCapacity: 4_000, preferredMemoryUsageAfterPurge: 2_000)
        let image = try Self.image()
        await withTaskGroup { group in
            for task in 0..<8 {
                group.addTask {
                    for round in 0..<500 {
                        cache.add(image, withIdentifier: "\((task + round) % 17)")
                        _ = cache.image(withIdentifier: "\(round % 17)")
                        if round % 50 == 0 { cache.removeAllImages() }
                    }
                }
            }
        }
        #expect(cache.memoryUsage <= 4_000)
        let left = (0..<17).count { cache.image(withIdentifier: "\($0)") != nil }
        #expect(cache.memoryUsage == UInt64(left) * 400)
    }
}
