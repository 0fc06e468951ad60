public import Foundation
import Synchronization

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// A monitor that posts notifications about requests: those named ``Request/didResumeNotification`` and so on.
///
/// Sessions post them by themselves, on the ``defaultQueue``, once a program has used one of the names. Give a session a monitor
/// of this kind to have them posted on another queue, or to observers that know the names only as text; it posts in the
/// place of the session then.
public final class RequestNotifications: EventMonitor {
    /// Where notifications are posted by default: the main queue; on Linux a queue of their own, since there an observer
    /// that is added with the main queue would wait for itself when a notification is posted on that.
    public static let defaultQueue: DispatchQueue = {
        #if canImport(Darwin)
            .main
        #else
            DispatchQueue(label: "afar.notifications")
        #endif
    }()

    /// Where the notifications are posted.
    public let queue: DispatchQueue
    /// Whether they are posted only once somebody has used a name.
    private let isAutomatic: Bool

    /// Makes a monitor.
    ///
    /// - Parameter queue: Where the notifications are posted. The default is the ``defaultQueue``.
    public convenience init(queue: DispatchQueue = RequestNotifications.defaultQueue) {
        self.init(queue: queue, isAutomatic: false)
    }

    private init(queue: DispatchQueue, isAutomatic: Bool) {
        self.queue = queue
        self.isAutomatic = isAutomatic
    }

    /// What sessions have that were given none.
    static let automatic = RequestNotifications(queue: defaultQueue, isAutomatic: true)

    // MARK: Names

    private static let areNamed = Atomic(false)

    /// Whether there may be observers: none can be there before a name was used.
    static var mayBeObserved: Bool { areNamed.load(ordering: .relaxed) }

    /// The names' common part. To be asked for a name means that somebody may observe it from now on.
    enum Kind: String {
        case didResume, didSuspend, didCancel, didFinish
        case didResumeTask, didSuspendTask, didCancelTask, didCompleteTask

        fileprivate var name: Notification.Name { Notification.Name("afar.request.\(rawValue)") }

        var observableName: Notification.Name {
            areNamed.store(true, ordering: .relaxed)
            return name
        }
    }

    /// Under which the request is in a notification's `userInfo`.
    static let requestKey = "afar.request"

    private func post(_ kind: Kind, about request: Request, _ task: URLSessionTask? = nil) {
        guard !isAutomatic || Self.mayBeObserved else { return }
        queue.async {
            var userInfo: [AnyHashable: Any] = [Self.requestKey: request]
            userInfo[Notification.Key.Task] = task
            if case .didCompleteTask = kind {
                userInfo[Notification.Key.ResponseData] = (request as? DataRequest)?.data
            }
            NotificationCenter.default.post(name: kind.name, object: request, userInfo: userInfo)
        }
    }
}

extension RequestNotifications: SelectiveEventMonitor {
    /// Posts ``Request/didResumeNotification``.
    public func requestDidResume(_ request: Request) { post(.didResume, about: request) }

    /// Posts ``Request/didSuspendNotification``.
    public func requestDidSuspend(_ request: Request) { post(.didSuspend, about: request) }

    /// Posts ``Request/didCancelNotification``.
    public func requestDidCancel(_ request: Request) { post(.didCancel, about: request) }

    /// Posts ``Request/didFinishNotification``.
    public func requestDidFinish(_ request: Request) { post(.didFinish, about: request) }

    /// Posts ``Request/didResumeTaskNotification``.
    public func request(_ request: Request, didResumeTask task: URLSessionTask) {
        post(.didResumeTask, about: request, task)
    }

    /// Posts ``Request/didSuspendTaskNotification``.
    public func request(_ request: Request, didSuspendTask task: URLSessionTask) {
        post(.didSuspendTask, about: request, task)
    }

    /// Posts ``Request/didCancelTaskNotification``.
    public func request(_ request: Request, didCancelTask task: URLSessionTask) {
        post(.didCancelTask, about: request, task)
    }

    /// Posts ``Request/didCompleteTaskNotification``.
    public func request(_ request: Request, didCompleteTask task: URLSessionTask, with error: AFError?) {
        post(.didCompleteTask, about: request, task)
    }
}

/// The names of the notifications about requests. The object is the request, which ``Foundation/Notification/request``
/// gives as well. Sessions post them, on the main queue, from when a program first uses one of the names; a program whose
/// main thread is blocked gives its sessions a ``RequestNotifications`` with another queue.
extension Request {
    /// A request was resumed.
    public static var didResumeNotification: Notification.Name { name(of: .didResume) }
    /// A request was suspended.
    public static var didSuspendNotification: Notification.Name { name(of: .didSuspend) }
    /// A request was cancelled.
    public static var didCancelNotification: Notification.Name { name(of: .didCancel) }
    /// A request has made its last attempt; its serializers' turn has come.
    public static var didFinishNotification: Notification.Name { name(of: .didFinish) }

    /// An attempt was sent, or went on.
    public static var didResumeTaskNotification: Notification.Name { name(of: .didResumeTask) }
    /// An attempt was suspended.
    public static var didSuspendTaskNotification: Notification.Name { name(of: .didSuspendTask) }
    /// An attempt was cancelled.
    public static var didCancelTaskNotification: Notification.Name { name(of: .didCancelTask) }
    /// An attempt is over.
    public static var didCompleteTaskNotification: Notification.Name { name(of: .didCompleteTask) }

    private static func name(of kind: RequestNotifications.Kind) -> Notification.Name { kind.observableName }
}

extension Notification {
    /// The request that this is about; nil for notifications about something else.
    public var request: Request? { userInfo?[RequestNotifications.requestKey] as? Request }

    /// Keys of a notification's `userInfo`.
    public struct Key {
        // swift-format-ignore: AlwaysUseLowerCamelCase
        /// The task of the attempt.
        public static let Task = "afar.task"
        // swift-format-ignore: AlwaysUseLowerCamelCase
        /// The bytes of the response, where an attempt has brought any, in memory.
        public static let ResponseData = "afar.responseData"
    }
}

extension Notification.Name {
    /// The names of the notifications about attempts, as they were called before ``Request`` had them.
    public struct Task {
        // swift-format-ignore: AlwaysUseLowerCamelCase
        /// The same as ``Request/didResumeTaskNotification``.
        public static var DidResume: Notification.Name { Request.didResumeTaskNotification }
        // swift-format-ignore: AlwaysUseLowerCamelCase
        /// The same as ``Request/didSuspendTaskNotification``.
        public static var DidSuspend: Notification.Name { Request.didSuspendTaskNotification }
        // swift-format-ignore: AlwaysUseLowerCamelCase
        /// The same as ``Request/didCancelTaskNotification``.
        public static var DidCancel: Notification.Name { Request.didCancelTaskNotification }
        // swift-format-ignore: AlwaysUseLowerCamelCase
        /// The same as ``Request/didCompleteTaskNotification``.
        public static var DidComplete: Notification.Name { Request.didCompleteTaskNotification }
    }
}
