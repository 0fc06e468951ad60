import Alamofire
import Testing

/// Repeats a request when the network is reachable.
final class OfflineNotice: @unchecked Sendable {
    let manager = NetworkReachabilityManager(host: "127.0.0.1")
    private let lock = NSLock()
    private var isDone = false

    func run(whenOnline action: @escaping @Sendable () -> Void) {
        manager?.listenerQueue = DispatchQueue(label: "notice")
        manager?.listener = { [weak self] status in
            switch status {
            case .reachable(.ethernetOrWiFi), .reachable(.wwan):
                guard let self, self.lock.withLock({ !self.isDone }) else { return }
                self.lock.withLock { self.isDone = true }
                action()
            case .notReachable, .unknown: break
            default: break
            }
        }
        manager?.startListening()
    }
}

@Suite struct OfflineNoticeTests {
    @Test func theRequestIsMadeWhenOnline() async throws {
        try await withServer { server in
            let notice = OfflineNotice()
            let status = await withCheckedContinuation { done in
                notice.run {
                    Alamofire.request(server.url("/get")).response { done.resume(returning: $0.response?.statusCode) }
                }
            }
            notice.manager?.stopListening()
            #expect(status == 200 && notice.manager?.isReachableOnWWAN == false)
        }
    }
}
