public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

extension Request {
    /// Sets a closure that is called with each `URLRequest` made for sending: one for each attempt, as the adapters
    /// left it, after the body of an upload has been made. Only the last closure set is called.
    ///
    /// Set later, it is called with the last of these at once.
    ///
    /// - Parameters:
    ///   - queue: Where the closure is called. The default is the main queue.
    ///   - handler: Called once for each attempt.
    @preconcurrency
    @discardableResult
    public func onURLRequestCreation(
        on queue: DispatchQueue = .main, perform handler: @escaping @Sendable (URLRequest) -> Void
    ) -> Self {
        madeURLRequests.setHandler(on: queue, handler)
        return self
    }

    /// The `URLRequest`s made for sending, to await: one for each attempt, as the adapters left it, after the body of an
    /// upload has been made.
    ///
    /// An iteration that begins late gets the last of these first. It ends when the request is finished,
    /// cancelled too; ending the iteration leaves the request alone.
    ///
    /// - Parameter bufferingPolicy: Which elements are kept for a loop that falls behind. The default is `.unbounded`.
    public func urlRequests(
        bufferingPolicy: StreamOf<URLRequest>.BufferingPolicy = .unbounded
    ) -> StreamOf<URLRequest> {
        stream(of: madeURLRequests, bufferingPolicy: bufferingPolicy) { $0 }
    }

    var madeURLRequests: Broadcast<URLRequest> { broadcast(\.urlRequests) { $0.history.finalRequest } }
}
