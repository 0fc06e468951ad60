import AfarCore
import AfarHAR
import AfarSerializers
import AfarTesting
import Foundation
import HTTPTypes
import Testing

@Suite struct HARMonitorTests {
    /// The monitor receives the events of the first attempt only after the second attempt has started.
    @Test func retriedAttemptsAreSeparateEntries() async throws {
        let monitor = HARMonitor()
        let mock = MockTransport(stubs: [Stub(.get, "/", .text("busy", status: 503), .text("ok"))])
        let session = Session(
            interceptor: RetryPolicy(retryLimit: 1, exponentialBackoffScale: 0), eventMonitors: [monitor],
            transport: mock)
        let isHeldUp = DispatchSemaphore(value: 0)
        monitor.queue.async { isHeldUp.wait() }
        let response = await session.request("http://mock.test/").validate().serializingString().response
        isHeldUp.signal()
        #expect(response.value == "ok")
        let entries = monitor.archive.entries
        #expect(entries.map(\.response.status) == [503, 200])
        #expect(entries.map(\.response.content.text) == [nil, "ok"])
    }
}
