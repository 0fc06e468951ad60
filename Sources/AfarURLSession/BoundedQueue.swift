import Foundation

/// A session's delegate queue that holds its producer up when it has much to do.
///
/// The library on Linux reads the network without waiting for its delegate, and every chunk becomes an operation: a
/// fast server and a slow disk would fill the memory. Here it waits, with its own queue, for the operations to be done.
/// So an operation must never wait for the session: tasks are cancelled elsewhere (``elsewhere(_:)``).
final class BoundedQueue: OperationQueue, @unchecked Sendable {
    // Sendable because its superclass is, and the semaphore.
    private let places = DispatchSemaphore(value: 256)
    /// A queue of its own gets a thread even when those of the global queues are all blocked: on Linux whoever makes a task
    /// waits for the session's own queue, which may wait for an operation.
    private let queue = DispatchQueue(label: "afar.urlsession")

    override init() {
        super.init()
        underlyingQueue = queue
    }

    override func addOperation(_ block: @escaping @Sendable () -> Void) {
        places.wait()
        super.addOperation { [places] in
            block()
            places.signal()
        }
    }

    /// Runs something that is no event: it may come from one, which has a place already.
    func addWithoutPlace(_ block: @escaping @Sendable () -> Void) { super.addOperation(block) }

    /// Runs what may have to wait for the session's queue.
    static func elsewhere(_ work: @escaping @Sendable () -> Void) {
        DispatchQueue.global().async(execute: work)
    }
}
