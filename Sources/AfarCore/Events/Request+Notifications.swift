public import Foundation

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
