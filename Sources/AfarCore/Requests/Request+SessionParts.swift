public import Foundation
package import HTTPTypes

// What Alamofire's requests are handed by their session.
extension Request {
    /// The session's ``Session/rootQueue``.
    public var underlyingQueue: DispatchQueue { session.queues.root }

    /// The session's ``Session/serializationQueue``.
    public var serializationQueue: DispatchQueue { session.queues.shownSerialization }

    /// The header fields that go with every request which has none of the same name.
    package var defaultFields: HTTPFields { (try? stack.options.get())?.defaultFields.fields ?? HTTPFields() }

    /// The names of headers that its session calls sensitive, beside those that are so by their names.
    package var sensitiveHeaders: Set<String> { session.configuration.sensitiveHeaders }

    /// Who is notified of this request's events: the session's monitors, and then those of
    /// ``eventMonitor(_:)-(EventMonitor)``.
    public var eventMonitor: (any EventMonitor)? {
        mutable.withLock { $0.observers?.monitor } ?? session.listeners
    }
}
