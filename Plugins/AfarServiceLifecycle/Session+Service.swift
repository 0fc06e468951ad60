public import AfarCore
public import Foundation
public import ServiceLifecycle

#if !ServiceLifecycle
    #error(
        "AfarServiceLifecycle requires the package trait ServiceLifecycle: .package(url: …, traits: [.defaults, \"ServiceLifecycle\"])"
    )
#endif

/// A session is a service that shuts down when its service group shuts down.
///
/// ```swift
/// let group = ServiceGroup(
///     services: [session, server], gracefulShutdownSignals: [.sigterm], logger: Logger(label: "app"))
/// try await group.run()
/// ```
///
/// A group shuts its services down in reverse order, one after another. List the session before the services that use it, so that they can
/// send requests until they have ended.
extension Session: @retroactive Service {
    /// Waits for the graceful shutdown of the service group, and then shuts the session down.
    ///
    /// Running requests can finish within 30 seconds. New requests fail with `AFError.sessionInvalidated`. To change the limit, use
    /// ``service(drainingFor:)``. If the task is canceled, before or during the shutdown, all requests end immediately with
    /// `AFError.sessionInvalidated`. The group cancels the task after the `maximumGracefulShutdownDuration` of its configuration, so this
    /// setting also limits the shutdown.
    public func run() async { await run(drainingFor: 30) }

    /// Returns a service that shuts the session down with a time limit.
    ///
    /// - Parameter limit: The time in seconds for running requests to finish after the graceful shutdown has begun. With 0, the
    ///   requests end immediately.
    public func service(drainingFor limit: TimeInterval) -> some Service {
        SessionService(session: self, limit: limit)
    }

    fileprivate func run(drainingFor limit: TimeInterval) async {
        // A cancellation doesn't count as a failure of the service. After a cancellation, the time limit of the shutdown
        // expires immediately.
        try? await gracefulShutdown()
        await shutdown(drainingFor: limit)
    }
}

private struct SessionService: Service {
    let session: Session
    let limit: TimeInterval

    func run() async { await session.run(drainingFor: limit) }
}
