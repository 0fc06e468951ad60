#if canImport(FoundationNetworking)
    public import FoundationNetworking
#else
    public import Foundation
#endif

/// The type of the `af` property. Afar and libraries written for Alamofire add members to this namespace instead of to the
/// extended type.
///
/// ```swift
/// extension Color: AlamofireExtended {}
///
/// extension AlamofireExtension where ExtendedType == Color {
///     var hex: String { type.name }
/// }
///
/// color.af.hex
/// ```
public struct AlamofireExtension<ExtendedType> {
    /// The extended value.
    public private(set) var type: ExtendedType

    /// Creates the extension of a value.
    public init(_ type: ExtendedType) { self.type = type }
}

extension AlamofireExtension: Sendable where ExtendedType: Sendable {}

/// A type that has members in its `af` namespace. See ``AlamofireExtension``.
public protocol AlamofireExtended {
    /// The extended type.
    associatedtype ExtendedType

    /// The namespace of the type.
    static var af: AlamofireExtension<ExtendedType>.Type { get set }
    /// The namespace of a value.
    var af: AlamofireExtension<ExtendedType> { get set }
}

extension AlamofireExtended {
    /// The namespace of the type. Setting it has no effect; the setter exists for mutating members.
    public static var af: AlamofireExtension<Self>.Type {
        get { AlamofireExtension<Self>.self }
        set {}
    }

    /// The namespace of a value. Setting it has no effect; the setter exists for mutating members.
    public var af: AlamofireExtension<Self> {
        get { AlamofireExtension(self) }
        set {}
    }
}

// MARK: - Default configurations

extension URLSessionConfiguration: AlamofireExtended {}

extension AlamofireExtension where ExtendedType: URLSessionConfiguration {
    /// A new `URLSessionConfiguration.default` with the default headers for requests. See ``HTTPHeaders/default``.
    public static var `default`: URLSessionConfiguration { withDefaultHeaders(.default) }

    /// A new `URLSessionConfiguration.ephemeral` with the default headers for requests. See ``HTTPHeaders/default``.
    public static var ephemeral: URLSessionConfiguration { withDefaultHeaders(.ephemeral) }

    private static func withDefaultHeaders(_ configuration: URLSessionConfiguration) -> URLSessionConfiguration {
        configuration.headers = .default
        return configuration
    }
}

// MARK: - Earlier names

/// The 4.x name of ``Session``.
public typealias SessionManager = Session

/// The earlier name of ``DisabledTrustEvaluator``.
@available(*, deprecated, renamed: "DisabledTrustEvaluator")
public typealias DisabledEvaluator = DisabledTrustEvaluator

/// The Alamofire 5 name of ``RequestNotifications``, which is a default monitor of Alamofire's sessions.
public typealias AlamofireNotifications = RequestNotifications

/// The 4.x name of a retrier's completion. It receives a ``RetryResult`` instead of a Boolean value and a delay:
/// `completion(.retryWithDelay(1))`.
public typealias RequestRetryCompletion = @Sendable (RetryResult) -> Void

extension DataRequest {
    /// The 4.x name of the type from which a data request is created.
    public typealias Requestable = any URLRequestConvertible
}

extension DownloadRequest {
    /// The 4.x name of ``Destination``.
    public typealias DownloadFileDestination = Destination

    /// The 4.x name of ``Options``.
    public typealias DownloadOptions = Options
}

extension Session {
    /// The 4.x name of ``HTTPHeaders/default``.
    public static var defaultHTTPHeaders: HTTPHeaders { .default }
}

extension Session {
    /// The default monitor of an Alamofire 5 session, which posts notifications.
    ///
    /// A session posts notifications even without this monitor.
    public var defaultEventMonitors: [any EventMonitor] { [RequestNotifications.automatic] }
}
