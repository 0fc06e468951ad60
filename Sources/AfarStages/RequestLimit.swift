import HTTPTypes

/// A stage that limits the number of in-flight requests to each host. Further requests wait in the order in which they arrive.
///
/// ```swift
/// let session = Session(stages: [RequestLimit(perHost: 4)])
/// ```
///
/// A request is in flight until its response is complete. If the body is streamed, the request is in flight until the response's
/// head arrives. Connections have a separate limit, `httpMaximumConnectionsPerHost`. This stage's limit matters for HTTP/2, where
/// many requests share a connection.
public struct RequestLimit: ExchangeStage {
    private let slots: Slots

    /// Creates a stage. Sessions that use the same stage share its limit.
    ///
    /// - Parameter limit: The maximum number of in-flight requests to one origin (scheme, host, and port). The minimum is 1.
    public init(perHost limit: Int) { slots = Slots(limit: max(1, limit)) }

    /// Returns an object that applies the limit to one exchange.
    public func begin(_ hop: Hop) -> (any StageRun)? { Run(slots) }

    private final class Run: StageRun {
        private let slots: Slots
        /// The slot that the request holds or waits for.
        private let slot = InlineLocked<Slots.Slot?>(nil)

        init(_ slots: Slots) { self.slots = slots }

        func before(_ hop: Hop) -> Reply<RequestAction> {
            let host = "\(hop.exchange.request.scheme ?? "")://\(hop.exchange.request.authority ?? "")"
            // A repeated request keeps its slot.
            guard slot.withLock({ $0 == nil }) else { return .now(.send) }
            let acquired = slots.acquireSlot(for: host)
            slot.withLock { $0 = acquired }
            guard !acquired.isGranted else { return .now(.send) }
            return .wait {
                await acquired.granted.value(ifCancelled: ())
                return .send
            }
        }

        func ended(_ hop: Hop, with result: Result<TransportResponse, any Error>?) {
            guard let acquired = slot.withLock({ $0.take() }) else { return }
            slots.release(acquired)
        }
    }

    /// The requests in flight and the waiting requests, by host.
    private final class Slots: Sendable {
        final class Slot: Sendable {
            let host: String
            let isGranted: Bool
            let granted = Deferred<Void>()

            init(host: String, isGranted: Bool) { (self.host, self.isGranted) = (host, isGranted) }
        }

        private struct Queue {
            var active: [ObjectIdentifier: Slot] = [:]
            var waiting: [Slot] = []
        }

        private let limit: Int
        private let queues = Locked<[String: Queue]>([:])

        init(limit: Int) { self.limit = limit }

        func acquireSlot(for host: String) -> Slot {
            queues.withLock { queues in
                let slot = Slot(host: host, isGranted: (queues[host]?.active.count ?? 0) < limit)
                if slot.isGranted {
                    queues[host, default: Queue()].active[ObjectIdentifier(slot)] = slot
                } else {
                    queues[host]?.waiting.append(slot)
                }
                return slot
            }
        }

        /// Releases a slot, whether the request is in flight or still waiting.
        func release(_ slot: Slot) {
            let next = queues.withLock { queues -> Slot? in
                guard var queue = queues[slot.host] else { return nil }
                defer { queues[slot.host] = queue.active.isEmpty ? nil : queue }
                guard queue.active.removeValue(forKey: ObjectIdentifier(slot)) != nil else {
                    queue.waiting.removeAll { $0 === slot }
                    return nil
                }
                guard !queue.waiting.isEmpty else { return nil }
                let next = queue.waiting.removeFirst()
                queue.active[ObjectIdentifier(next)] = next
                return next
            }
            next?.granted.fulfill(())
        }
    }
}
