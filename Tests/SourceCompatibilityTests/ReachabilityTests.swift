import Afar
import Dispatch
import Foundation
import Testing

struct ReachabilityTests {
    private static func text(of status: NetworkReachabilityManager.NetworkReachabilityStatus) -> String {
        switch status {
        case .notReachable: "not reachable"
        case .unknown: "unknown"
        case .reachable(.ethernetOrWiFi): "reachable"
        case .reachable(.cellular): "cellular"
        }
    }

    @Test func aManagerReportsTheFirstStatusOnItsQueue() async throws {
        let manager = try #require(NetworkReachabilityManager(host: "localhost"))
        #expect(manager.isReachable)
        #expect(manager.isReachableOnEthernetOrWiFi)
        #expect(!manager.isReachableOnCellular)
        #expect(manager.status == .reachable(.ethernetOrWiFi))
        let queue = DispatchQueue(label: "listener")
        let text = await withCheckedContinuation { continuation in
            manager.startListening(onQueue: queue) { status in
                dispatchPrecondition(condition: .onQueue(queue))
                continuation.resume(returning: Self.text(of: status))
            }
        }
        #expect(text == "reachable")
        manager.stopListening()
    }

    @Test func aListenerCanBeAProperty() async throws {
        let manager = try #require(NetworkReachabilityManager(host: "127.0.0.1"))
        manager.listenerQueue = DispatchQueue(label: "listener")
        let isReachable = await withCheckedContinuation { continuation in
            manager.listener = { status in continuation.resume(returning: status != .reachable(.cellular)) }
            manager.startListening()
        }
        #expect(isReachable)
        manager.stopListening()
    }

    @Test func thereIsAManagerForTheInternet() {
        let manager: NetworkReachabilityManager? = NetworkReachabilityManager.default
        #expect(manager != nil)
        #expect(NetworkReachabilityManager() != nil)
    }
}
