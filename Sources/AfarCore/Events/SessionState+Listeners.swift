import Foundation

// Who listens to all requests of a session.
extension SessionState {
    /// Everybody who may listen: the delegate's closures, the notifications, then the session's monitors and the one that
    /// the environment asks for.
    ///
    /// - Returns: Them, and whether there are any but the first two, who listen only now and then.
    static func listeners(
        _ eventMonitors: [any EventMonitor], _ delegate: SessionDelegate, on rootQueue: DispatchQueue
    ) -> (CompositeEventMonitor, hasEventMonitors: Bool) {
        let eventMonitors = eventMonitors + [LoggingMonitor.environment].compactMap { $0 }
        let notifications =
            eventMonitors.contains { $0 is RequestNotifications } ? [] : [RequestNotifications.automatic]
        let listeners = CompositeEventMonitor(
            monitors: [DelegateEvents(delegate, on: rootQueue)] + notifications + eventMonitors)
        return (listeners, !eventMonitors.isEmpty)
    }

    /// The monitors of all requests; nil when there are none.
    var eventMonitor: CompositeEventMonitor? {
        hasEventMonitors || delegate.isListening || RequestNotifications.mayBeObserved ? listeners : nil
    }
}
