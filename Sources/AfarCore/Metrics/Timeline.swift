public import Foundation

/// The times of a request's main events. Times are seconds since 1 January 2001; durations are in seconds.
public struct Timeline: Sendable, Hashable {
    /// The time at which the request was first started.
    public let requestStartTime: TimeInterval
    /// The time at which the first byte of the response arrived; the start time if none did.
    public let initialResponseTime: TimeInterval
    /// The time at which the network activity ended.
    public let requestCompletedTime: TimeInterval
    /// The time at which the serialization of the response ended.
    public let serializationCompletedTime: TimeInterval

    /// Creates a timeline.
    public init(
        requestStartTime: TimeInterval = 0,
        initialResponseTime: TimeInterval = 0,
        requestCompletedTime: TimeInterval = 0,
        serializationCompletedTime: TimeInterval = 0
    ) {
        self.requestStartTime = requestStartTime
        self.initialResponseTime = initialResponseTime
        self.requestCompletedTime = requestCompletedTime
        self.serializationCompletedTime = serializationCompletedTime
    }

    /// The time from the start to the first byte of the response.
    public var latency: TimeInterval { initialResponseTime - requestStartTime }
    /// The time from the start to the end of the network activity.
    public var requestDuration: TimeInterval { requestCompletedTime - requestStartTime }
    /// The time from the end of the network activity to the end of serialization.
    public var serializationDuration: TimeInterval { serializationCompletedTime - requestCompletedTime }
    /// The time from the start to the end of serialization.
    public var totalDuration: TimeInterval { serializationCompletedTime - requestStartTime }
}

extension Timeline: CustomStringConvertible, CustomDebugStringConvertible {
    /// The durations.
    public var description: String {
        """
        latency \(Self.seconds(latency)), request \(Self.seconds(requestDuration)), \
        serialization \(Self.seconds(serializationDuration)), total \(Self.seconds(totalDuration))
        """
    }

    /// The times and the durations.
    public var debugDescription: String {
        """
        start \(Self.moment(requestStartTime)), first byte \(Self.moment(initialResponseTime)), \
        completed \(Self.moment(requestCompletedTime)), serialized \(Self.moment(serializationCompletedTime)); \
        \(description)
        """
    }

    private static func seconds(_ duration: TimeInterval) -> String { String(format: "%.3f s", duration) }

    private static func moment(_ time: TimeInterval) -> String {
        Date(timeIntervalSinceReferenceDate: time).formatted(.iso8601.time(includingFractionalSeconds: true))
    }
}
