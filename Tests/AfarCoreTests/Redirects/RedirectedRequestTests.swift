import AfarTesting
import Foundation
import Testing

@testable import AfarCore

@Suite struct RedirectedRequestTests {
    /// Without an observer, the bytes of a discarded body aren't counted.
    @Test(arguments: [true, false])
    func aRedirectWithALongBodyIsFollowedWithAndWithoutObservers(isWatched: Bool) async {
        let session = Session(
            transport: MockTransport { request in
                guard request.path == "/a" else { return .text("there") }
                var response = MockResponse.redirect(302, to: "/b")
                response.body = Data(count: 100_000)
                return response
            })
        let request = session.request("http://mock/a")
        let progress: Progress? = isWatched ? request.downloadProgress : nil
        let response = await request.serializingResponse(using: Bytes()).response
        #expect(response.value == Data("there".utf8))
        #expect(request.responseHead?.status == 200)
        #expect(progress?.completedUnitCount ?? 5 == 5)
    }
}
