public import Foundation

/// A monitor that forwards events to several monitors, each on its own queue.
public final class CompositeEventMonitor: EventReceiver {
    /// The queue on which ``receive(_:)`` is called if this monitor is part of another composite. The method only forwards events.
    public let queue: DispatchQueue
    private let listeners: [Listener]
    /// Whether at least one of the monitors receives all events.
    let hasQueuedListeners: Bool

    /// A monitor and its queue. The monitor's `queue` property is read only once, because it can be user code.
    struct Listener: Sendable {
        let monitor: any EventMonitor
        /// Nil if the monitor dispatches to its queue itself.
        let queue: DispatchQueue?

        init(_ monitor: any EventMonitor) {
            self.monitor = monitor
            queue = monitor is any SelectiveEventMonitor ? nil : monitor.queue
        }
    }

    /// Creates a monitor that forwards to other monitors.
    ///
    /// - Parameters:
    ///   - queue: See ``queue``. The default is a new serial queue.
    ///   - monitors: The monitors, in the order in which they are notified.
    public init(queue: DispatchQueue = DispatchQueue(label: "afar.events"), monitors: [any EventMonitor]) {
        self.queue = queue
        listeners = monitors.map(Listener.init)
        hasQueuedListeners = listeners.contains { $0.queue != nil }
    }

    init(_ other: CompositeEventMonitor, adding listener: Listener) {
        queue = DispatchQueue(label: "afar.events")
        listeners = other.listeners + [listener]
        hasQueuedListeners = listeners.contains { $0.queue != nil }
    }

    /// The monitors, in the order in which they are notified.
    public var monitors: [any EventMonitor] { listeners.map(\.monitor) }

    /// Forwards an event to each monitor, on its queue. Each monitor receives the events of one thread in order.
    public func receive(_ event: RequestEvent) {
        for listener in listeners {
            if let queue = listener.queue {
                queue.async { listener.monitor.receive(event) }
            } else {
                listener.monitor.receive(event)
            }
        }
    }
}

/// A monitor that dispatches events to its queue itself, so that the events that it ignores cost nothing. Its ``receive(_:)``
/// is called on the thread on which the event occurs. This thread can hold a request's lock.
protocol SelectiveEventMonitor: EventMonitor {}
