import Foundation

/// The queues of a session: those that it was given, and those that it shows in their place.
struct SessionQueues {
    let root: DispatchQueue
    /// Nil when the session was given none: each request makes its own `URLRequest`s.
    let request: DispatchQueue?
    /// Nil when the session was given none: each request runs its own serializers.
    let serialization: DispatchQueue?
    /// ``Session/requestQueue``, used or not.
    let shownRequest: DispatchQueue
    /// ``Session/serializationQueue``, used or not.
    let shownSerialization: DispatchQueue

    init(root: DispatchQueue, request: DispatchQueue?, serialization: DispatchQueue?) {
        self.root = root
        self.request = request
        self.serialization = serialization
        shownRequest = request ?? DispatchQueue(label: "\(root.label).requestQueue", target: root)
        shownSerialization = serialization ?? DispatchQueue(label: "\(root.label).serializationQueue", target: root)
    }
}
