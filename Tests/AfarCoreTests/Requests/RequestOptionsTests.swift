import AfarCore
import AfarTesting
import Foundation
import Testing

@Suite struct RequestOptionsTests {
    @Test func concurrentChangesArentLost() {
        let request = Session(transport: MockTransport { _ in .status(200) }).request(
            "http://mock.test/", shouldAutomaticallyResume: false)
        DispatchQueue.concurrentPerform(iterations: 400) { _ in
            request.options { $0.idleTimeout = ($0.idleTimeout ?? 0) + 1 }
        }
        #expect(request.options.idleTimeout == 400)
    }
}
