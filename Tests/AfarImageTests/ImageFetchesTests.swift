import AfarCore
import AfarTesting
import Foundation
import Testing

@testable import AfarImage

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite struct ImageFetchesTests {
    private let session = Session(transport: MockTransport { _ in .status(404) })
    private let waiter = ImageFetch.Waiter(id: 1, filter: nil, keep: { _ in }, report: nil, complete: { _ in })

    /// A request may end while who has made it is still about to queue it.
    @Test func aFetchThatHasEndedTakesNoPlace() throws {
        var fetches = ImageFetches(.fifo, maximumActive: 1)
        for number in 0..<5 {
            let url = URLRequest(url: try #require(URL(string: "http://example.com/\(number)")))
            let request = session.request(url, shouldAutomaticallyResume: false)
            let key = ImageFetch.Key(url, ImageResponseSerializer(), nil)
            let id = fetches.add(key, request, waiter)
            fetches.endLoading(key, id)
            #expect(fetches.enqueue(key, id).isEmpty)
            let (fetch, next) = fetches.end(key, id)
            #expect(fetch?.waiters.count == 1 && next.isEmpty)
        }
        let url = URLRequest(url: try #require(URL(string: "http://example.com/last")))
        let key = ImageFetch.Key(url, ImageResponseSerializer(), nil)
        let id = fetches.add(key, session.request(url, shouldAutomaticallyResume: false), waiter)
        #expect(fetches.enqueue(key, id).count == 1)
    }
}
