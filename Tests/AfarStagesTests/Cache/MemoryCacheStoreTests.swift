import AfarStages
import Foundation
import HTTPTypes
import Testing

struct MemoryCacheStoreTests {
    private func response(_ url: String, variant: String = "", bytes: Int = 1000) -> CachedResponse {
        CachedResponse(
            url: url, variant: variant, status: 200, fields: [:], body: Data(count: bytes), requestDate: .now,
            responseDate: .now)
    }

    @Test func theNewestResponseOfAVariantIsKept() {
        let store = MemoryCacheStore()
        let (old, new, other) = (response("a", variant: "x"), response("a", variant: "x"), response("a", variant: "y"))
        for response in [old, other, new] { store.store(response) }
        #expect(store.responses(for: "a").map(ObjectIdentifier.init) == [new, other].map(ObjectIdentifier.init))
        #expect(store.responses(for: "b").isEmpty && store.count == 1)
        #expect(store.byteCount == new.byteCount + other.byteCount)
    }

    @Test func theLeastRecentlyUsedResponsesAreEvictedFirst() {
        let store = MemoryCacheStore(capacity: 20_000)
        for name in ["a", "b", "c", "d"] { store.store(response(name, bytes: 1900)) }
        _ = store.responses(for: "a")
        for number in 0..<5 { store.store(response("n\(number)", bytes: 1900)) }
        #expect(!store.responses(for: "a").isEmpty && store.responses(for: "b").isEmpty)
        #expect(store.byteCount <= 20_000)
    }

    @Test func aLargeResponseIsNotStoredAndRemovesItsPredecessor() {
        let store = MemoryCacheStore(capacity: 20_000)
        store.store(response("a"))
        store.store(response("a", bytes: 3000))
        #expect(store.responses(for: "a").isEmpty && store.byteCount == 0)
    }

    @Test func variantsPerURLAreLimited() {
        let store = MemoryCacheStore()
        for number in 0..<100 { store.store(response("a", variant: "\(number)")) }
        #expect(store.responses(for: "a").count == 16 && store.responses(for: "a").first?.variant == "99")
        let small = MemoryCacheStore(capacity: 40_000)
        small.store(response("b"))
        for number in 0..<100 { small.store(response("a", variant: "\(number)", bytes: 3000)) }
        #expect(small.responses(for: "a").count == 2 && small.responses(for: "b").count == 1)
    }

    @Test func removingLeavesNothingBehind() {
        let store = MemoryCacheStore()
        for name in ["a", "b", "c"] { store.store(response(name)) }
        store.removeResponses(for: "b")
        #expect(store.responses(for: "b").isEmpty && store.count == 2)
        store.store(response("d"))
        store.removeAll()
        #expect(store.count == 0 && store.byteCount == 0 && store.responses(for: "a").isEmpty)
        store.store(response("a"))
        #expect(store.count == 1)
    }

    @Test func manyThreadsCanShareAStore() async {
        let store = MemoryCacheStore(capacity: 200_000)
        await withTaskGroup(of: Void.self) { group in
            for task in 0..<8 {
                group.addTask {
                    for number in 0..<2000 {
                        let url = "\((number * 7 + task) % 300)"
                        if number % 3 == 0 { store.store(response(url)) } else { _ = store.responses(for: url) }
                        if number % 50 == 0 { store.removeResponses(for: url) }
                    }
                }
            }
        }
        #expect(store.byteCount <= 200_000)
        var bytes = 0
        for number in 0..<300 { bytes += store.responses(for: "\(number)").reduce(0) { $0 + $1.byteCount } }
        #expect(bytes == store.byteCount)
    }
}
