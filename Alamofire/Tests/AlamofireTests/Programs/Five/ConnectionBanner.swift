import Alamofire
import Testing

/// The text of a banner that shows whether a host is reachable.
final class ConnectionBanner: @unchecked Sendable {
    private let manager: NetworkReachabilityManager?
    private let lock = NSLock()
    private var shown = ""

    init(host: String) { manager = NetworkReachabilityManager(host: host) }

    var text: String { lock.withLock { shown } }

    func start(queue: DispatchQueue, onChange: @escaping @Sendable () -> Void) {
        manager?.startListening(onQueue: queue) { [weak self] status in
            guard let self else { return }
            let text =
                switch status {
                case .unknown: "Checking the network"
                case .notReachable: "Offline"
                case .reachable(.cellular): "Online, expensive"
                case .reachable(.ethernetOrWiFi): "Online"
                }
            lock.withLock { shown = text }
            onChange()
        }
    }

    func stop() { manager?.stopListening() }
}

@Suite struct ConnectionBannerTests {
    @Test func thisMachineIsReachable() async throws {
        try await withServer { server in
            let banner = ConnectionBanner(host: "127.0.0.1")
            let (changes, change) = AsyncStream.makeStream(of: Void.self)
            banner.start(queue: DispatchQueue(label: "banner")) { change.yield() }
            for await _ in changes { break }
            banner.stop()
            #expect(banner.text == "Online")
            let body = try await AF.request(server.url("/get")).validate().serializingData().value
            #expect(!body.isEmpty)
        }
    }
}
