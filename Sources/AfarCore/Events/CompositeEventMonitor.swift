public import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A monitor that forwards events to several monitors, each on its own queue.
public final class CompositeEventMonitor: EventMonitor {
    /// The queue on which the methods are called if this monitor is part of another composite. They only forward events.
    public let queue: DispatchQueue
    private let listeners: [Listener]

    /// A monitor and its queue. The queue is read only once, because the property can be user code.
    struct Listener: Sendable {
        let monitor: any EventMonitor
        /// Nil if the monitor dispatches to its queue itself.
        let queue: DispatchQueue?

        init(_ monitor: any EventMonitor) {
            self.monitor = monitor
            queue = monitor is any SelectiveEventMonitor ? nil : monitor.queue
        }
    }

    /// Creates a monitor that forwards to others.
    ///
    /// - Parameters:
    ///   - queue: See ``queue``. The default is a new serial queue.
    ///   - monitors: The monitors, in the order in which they are notified.
    public init(queue: DispatchQueue = DispatchQueue(label: "afar.events"), monitors: [any EventMonitor]) {
        self.queue = queue
        listeners = monitors.map(Listener.init)
    }

    /// Creates a monitor that forwards to the monitors of another and one more.
    init(_ other: CompositeEventMonitor, adding listener: Listener) {
        queue = DispatchQueue(label: "afar.events")
        listeners = other.listeners + [listener]
    }

    /// The monitors, in the order in which they are notified.
    public var monitors: [any EventMonitor] { listeners.map(\.monitor) }

    /// Forwards an event. Each monitor receives the events of one thread in order.
    func perform(_ event: @escaping @Sendable (any EventMonitor) -> Void) {
        for listener in listeners {
            if let queue = listener.queue {
                queue.async { event(listener.monitor) }
            } else {
                event(listener.monitor)
            }
        }
    }

    /// Forwards a response's head in Foundation's form, which is created only if there are monitors.
    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive head: ResponseHead) {
        for listener in listeners {
            listener.queue?.async {
                guard let response = head.httpURLResponse else { return }
                listener.monitor.urlSession(session, dataTask: dataTask, didReceive: response)
            }
        }
    }
}

/// A monitor that dispatches only the events it needs to its queue, so that other events cost nothing. It is called on the thread
/// of the event, which can hold a request's lock.
protocol SelectiveEventMonitor: EventMonitor {}
