public import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Forwards events to several monitors, to each on its own queue.
public final class CompositeEventMonitor: EventMonitor {
    /// Where the methods of a composite that is part of another are called. They only forward events.
    public let queue: DispatchQueue
    private let listeners: [Listener]

    /// A monitor and its queue, which is read once: it may be anybody's code.
    struct Listener: Sendable {
        let monitor: any EventMonitor
        /// Nil for one that sees to its queue itself.
        let queue: DispatchQueue?

        init(_ monitor: any EventMonitor) {
            self.monitor = monitor
            queue = monitor is any SelectiveEventMonitor ? nil : monitor.queue
        }
    }

    /// Makes a monitor of others.
    ///
    /// - Parameters:
    ///   - queue: See ``queue``. The default is a serial queue of its own.
    ///   - monitors: The monitors, in the order in which they are notified.
    public init(queue: DispatchQueue = DispatchQueue(label: "afar.events"), monitors: [any EventMonitor]) {
        self.queue = queue
        listeners = monitors.map(Listener.init)
    }

    /// Makes a monitor of those of another and one more.
    init(_ other: CompositeEventMonitor, adding listener: Listener) {
        queue = DispatchQueue(label: "afar.events")
        listeners = other.listeners + [listener]
    }

    /// The monitors, in the order in which they are notified.
    public var monitors: [any EventMonitor] { listeners.map(\.monitor) }

    /// Forwards an event. Each monitor gets the events from one thread in order.
    func perform(_ event: @escaping @Sendable (any EventMonitor) -> Void) {
        for listener in listeners {
            if let queue = listener.queue {
                queue.async { event(listener.monitor) }
            } else {
                event(listener.monitor)
            }
        }
    }

    /// Forwards a response's head, in Foundation's form, which is made only when there are monitors.
    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive head: ResponseHead) {
        for listener in listeners {
            listener.queue?.async {
                guard let response = head.httpURLResponse else { return }
                listener.monitor.urlSession(session, dataTask: dataTask, didReceive: response)
            }
        }
    }
}

/// A monitor that puts onto its queue only what concerns it, so that the rest costs nothing. It is called wherever things
/// happen, also while a request's lock is held.
protocol SelectiveEventMonitor: EventMonitor {}
