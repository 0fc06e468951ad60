public import Foundation

/// When a request reached the moments of its life. Times are seconds since 1 January 2001, durations are seconds.
public struct Timeline: Sendable, Hashable {
    /// When the request was first started.
    public let requestStartTime: TimeInterval
    /// When the first byte of the response arrived; the start time when none did.
    public let initialResponseTime: TimeInterval
    /// When the network work was over.
    public let requestCompletedTime: TimeInterval
    /// When the response's serialization was over.
    public let serializationCompletedTime: TimeInterval

    /// Makes a timeline.
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

    /// From the start to the first byte of the response.
    public var latency: TimeInterval { initialResponseTime - requestStartTime }
    /// From the start to the end of the network work.
    public var requestDuration: TimeInterval { requestCompletedTime - requestStartTime }
    /// From the end of the network work to the end of serialization.
    public var serializationDuration: TimeInterval { serializationCompletedTime - requestCompletedTime }
    /// From the start to the end of serialization.
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

    /// The moments and the durations.
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
