import Dispatch
import Testing

@testable import AfarReachability

struct NetworkReachabilityManagerTests {
    private typealias Status = NetworkReachabilityManager.NetworkReachabilityStatus

    @Test func managersCanBeCreated() throws {
        #expect(NetworkReachabilityManager() != nil)
        #expect(NetworkReachabilityManager(host: "localhost")?.isReachable == true)
        #expect(NetworkReachabilityManager(host: "") == nil)
        #expect(NetworkReachabilityManager.default === NetworkReachabilityManager.default)
    }

    @Test func localhostIsReachedWithoutAMobileNetwork() throws {
        let manager = try #require(NetworkReachabilityManager(host: "127.0.0.1"))
        #expect(manager.status == .reachable(.ethernetOrWiFi))
        #expect(manager.isReachable && manager.isReachableOnEthernetOrWiFi)
        #expect(!manager.isReachableOnCellular)
    }

    @Test func theFirstStatusIsReportedAsynchronouslyOnTheQueue() async throws {
        let manager = try #require(NetworkReachabilityManager(host: "127.0.0.1"))
        let queue = DispatchQueue(label: "listener")
        let (statuses, status) = AsyncStream<Status>.makeStream()
        queue.suspend()
        #expect(
            manager.startListening(onQueue: queue) {
                dispatchPrecondition(condition: .onQueue(queue))
                status.yield($0)
                status.finish()
            })
        queue.resume()
        #expect(await statuses.reduce(into: []) { $0.append($1) } == [.reachable(.ethernetOrWiFi)])
    }

    @Test func listenersCanUseTheManagersQueue() async throws {
        let manager = try #require(NetworkReachabilityManager(host: "127.0.0.1"))
        let (statuses, status) = AsyncStream<Status>.makeStream()
        manager.startListening(onQueue: manager.reachabilityQueue) { [queue = manager.reachabilityQueue] in
            dispatchPrecondition(condition: .onQueue(queue))
            status.yield($0)
            status.finish()
        }
        #expect(await statuses.reduce(into: []) { $0.append($1) } == [.reachable(.ethernetOrWiFi)])
    }

    @Test func aStoppedListenerIsNotNotified() throws {
        let manager = try #require(NetworkReachabilityManager(host: "127.0.0.1"))
        let queue = DispatchQueue(label: "listener")
        let count = Locked(0)
        for _ in 1...100 {
            queue.sync {
                manager.startListening(onQueue: queue) { _ in count.withLock { $0 += 1 } }
                manager.stopListening()
            }
        }
        queue.sync {}
        #expect(count.withLock { $0 } == 0)
    }

    @Test func aNewListenerReplacesTheOld() throws {
        let manager = try #require(NetworkReachabilityManager(host: "127.0.0.1"))
        let queue = DispatchQueue(label: "listener")
        let reported = Locked<[String]>([])
        queue.sync {
            manager.startListening(onQueue: queue) { _ in reported.withLock { $0.append("old") } }
            manager.startListening(onQueue: queue) { _ in reported.withLock { $0.append("new") } }
        }
        queue.sync {}
        #expect(reported.withLock { $0 } == ["new"])
    }

    @Test func releasingTheManagerEndsListening() throws {
        weak var weakManager: NetworkReachabilityManager?
        let queue = DispatchQueue(label: "listener")
        let count = Locked(0)
        do {
            let manager = try #require(NetworkReachabilityManager(host: "127.0.0.1"))
            weakManager = manager
            queue.suspend()
            manager.startListening(onQueue: queue) { _ in count.withLock { $0 += 1 } }
        }
        #expect(weakManager == nil)
        queue.resume()
        queue.sync {}
        #expect(count.withLock { $0 } == 0)
    }

    /// A listener is released without a lock, because its deinitializer can call the manager.
    @Test(arguments: [false, true])
    func aReleasedListenerCanCallTheManager(isClosure: Bool) throws {
        let manager = try #require(NetworkReachabilityManager(host: "127.0.0.1"))
        let isDone = DispatchSemaphore(value: 0)
        // Runs on another thread, which is abandoned if it blocks.
        DispatchQueue.global().async {
            let queue = DispatchQueue(label: "listener")
            queue.suspend()
            do {
                let owned = Caller(manager)
                if isClosure {
                    manager.startListening(onQueue: queue) { _ in _ = owned.manager }
                } else {
                    manager.listener = { _ in _ = owned.manager }
                }
            }
            queue.resume()
            queue.sync {}
            manager.stopListening()
            manager.listener = nil
            isDone.signal()
        }
        #expect(isDone.wait(timeout: .now() + 20) == .success)
        #expect(manager.listener == nil)
    }

    private final class Caller: Sendable {
        let manager: NetworkReachabilityManager

        init(_ manager: NetworkReachabilityManager) { self.manager = manager }

        deinit {
            manager.listener = nil
            manager.stopListening()
            _ = manager.status
        }
    }

    @Test func aListenerCanBeAProperty() async throws {
        let manager = try #require(NetworkReachabilityManager(host: "127.0.0.1"))
        let (statuses, status) = AsyncStream<Status>.makeStream()
        manager.listenerQueue = DispatchQueue(label: "listener")
        manager.listener = { status.yield($0) }
        manager.startListening()
        for await status in statuses {
            switch status {
            case .reachable(.cellular): Issue.record("not a cellular network")
            case .reachable(.ethernetOrWiFi): break
            default: Issue.record("\(status)")
            }
            break
        }
        manager.stopListening()
    }

    @Test(
        arguments: [
            (NetworkPath(status: .unsatisfied(.noRoute)), .notReachable),
            (NetworkPath(status: .unknown(.nameNotResolved("x"))), .unknown),
            (path(.ethernet), .reachable(.ethernetOrWiFi)), (path(.wifi, .cellular), .reachable(.ethernetOrWiFi)),
            (path(.cellular, .wifi), .reachable(.cellular)), (path(.vpn, .cellular, .wifi), .reachable(.cellular)),
            (path(.vpn), .reachable(.ethernetOrWiFi)), (path(), .reachable(.ethernetOrWiFi)),
        ] as [(NetworkPath, NetworkReachabilityManager.NetworkReachabilityStatus)])
    func aPathIsAStatus(path: NetworkPath, status: NetworkReachabilityManager.NetworkReachabilityStatus) {
        #expect(NetworkReachabilityManager.NetworkReachabilityStatus(path) == status)
    }

    private static func path(_ kinds: NetworkInterface.Kind...) -> NetworkPath {
        NetworkPath(
            status: .satisfied,
            interfaces: kinds.enumerated().map { NetworkInterface(name: "x\($0)", index: $0, kind: $1) })
    }
}
