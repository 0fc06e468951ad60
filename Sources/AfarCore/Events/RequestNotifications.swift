public import Foundation
import Synchronization

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A monitor that posts notifications about requests, such as ``Request/didResumeNotification``.
///
/// After a program has accessed the name of one of these notifications, sessions post them on the ``defaultQueue``. Pass this
/// monitor to a session to post the notifications on another queue. Also pass it if observers use the names as strings instead
/// of accessing the properties. The session then posts notifications only through this monitor.
public final class RequestNotifications: EventMonitor {
    /// The queue on which notifications are posted by default: the main queue, or a dedicated queue on Linux. On Linux, posting
    /// on the main queue would deadlock if an observer was added with `OperationQueue.main`.
    public static let defaultQueue: DispatchQueue = {
        #if canImport(Darwin)
            .main
        #else
            DispatchQueue(label: "afar.notifications")
        #endif
    }()

    /// The queue on which the notifications are posted.
    public let queue: DispatchQueue
    /// Whether notifications are posted only after a name was accessed.
    private let isAutomatic: Bool

    /// Creates a monitor.
    ///
    /// - Parameter queue: The queue on which the notifications are posted. The default is the ``defaultQueue``.
    public convenience init(queue: DispatchQueue = RequestNotifications.defaultQueue) {
        self.init(queue: queue, isAutomatic: false)
    }

    private init(queue: DispatchQueue, isAutomatic: Bool) {
        self.queue = queue
        self.isAutomatic = isAutomatic
    }

    /// The monitor of sessions that were created without a notification monitor.
    static let automatic = RequestNotifications(queue: defaultQueue, isAutomatic: true)

    private static let isAnyNameAccessed = Atomic(false)

    /// Whether there can be observers. Before a name is accessed, there can't be any.
    static var canBeObserved: Bool { isAnyNameAccessed.load(ordering: .relaxed) }

    /// The last component of the names. Accessing a name enables the notifications, because the caller might add an observer.
    enum Kind: String {
        case didResume, didSuspend, didCancel, didFinish
        case didResumeTask, didSuspendTask, didCancelTask, didCompleteTask

        fileprivate var name: Notification.Name { Notification.Name("afar.request.\(rawValue)") }

        var observableName: Notification.Name {
            isAnyNameAccessed.store(true, ordering: .relaxed)
            return name
        }
    }

    /// The key of the request in a notification's `userInfo`.
    static let requestKey = "afar.request"

    private func post(_ kind: Kind, about request: Request, _ task: URLSessionTask? = nil) {
        guard !isAutomatic || Self.canBeObserved else { return }
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

extension RequestNotifications: SelectiveEventMonitor, EventReceiver {
    /// Posts the notification about the event, if there is one.
    public func receive(_ event: RequestEvent) {
        switch event {
        case .requestDidResume(let request): post(.didResume, about: request)
        case .requestDidSuspend(let request): post(.didSuspend, about: request)
        case .requestDidCancel(let request): post(.didCancel, about: request)
        case .requestDidFinish(let request): post(.didFinish, about: request)
        case .requestDidResumeTask(let request, let task): post(.didResumeTask, about: request, task)
        case .requestDidSuspendTask(let request, let task): post(.didSuspendTask, about: request, task)
        case .requestDidCancelTask(let request, let task): post(.didCancelTask, about: request, task)
        case .requestDidCompleteTask(let request, let task, _): post(.didCompleteTask, about: request, task)
        default: break
        }
    }
}

/// The names of the notifications about requests. The object of a notification is the request, which is also available as
/// ``Foundation/Notification/request``. ``RequestNotifications`` describes when and on which queue sessions post the
/// notifications.
extension Request {
    /// Posted when a request was resumed.
    public static var didResumeNotification: Notification.Name { name(of: .didResume) }
    /// Posted when a request was suspended.
    public static var didSuspendNotification: Notification.Name { name(of: .didSuspend) }
    /// Posted when a request was canceled.
    public static var didCancelNotification: Notification.Name { name(of: .didCancel) }
    /// Posted when a request's last attempt has ended, before its serializers run.
    public static var didFinishNotification: Notification.Name { name(of: .didFinish) }

    /// Posted when an attempt was sent or resumed.
    public static var didResumeTaskNotification: Notification.Name { name(of: .didResumeTask) }
    /// Posted when an attempt was suspended.
    public static var didSuspendTaskNotification: Notification.Name { name(of: .didSuspendTask) }
    /// Posted when an attempt was canceled.
    public static var didCancelTaskNotification: Notification.Name { name(of: .didCancelTask) }
    /// Posted when an attempt has ended.
    public static var didCompleteTaskNotification: Notification.Name { name(of: .didCompleteTask) }

    private static func name(of kind: RequestNotifications.Kind) -> Notification.Name { kind.observableName }
}

extension Notification {
    /// The request of the notification, or nil for other notifications.
    public var request: Request? { userInfo?[RequestNotifications.requestKey] as? Request }

    /// Keys of a notification's `userInfo`.
    public struct Key {
        // swift-format-ignore: AlwaysUseLowerCamelCase
        /// The task of the attempt.
        public static let Task = "afar.task"
        // swift-format-ignore: AlwaysUseLowerCamelCase
        /// The bytes of the response that are held in memory, if there are any.
        public static let ResponseData = "afar.responseData"
    }
}

// MARK: - Alamofire's names

/// The Alamofire 5 name of ``RequestNotifications``, which is a default monitor of Alamofire's sessions.
public typealias AlamofireNotifications = RequestNotifications

extension Session {
    /// The default monitor of an Alamofire 5 session, which posts notifications.
    ///
    /// A session posts notifications even without this monitor.
    public var defaultEventMonitors: [any EventMonitor] { [RequestNotifications.automatic] }
}
