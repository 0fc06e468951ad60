import Foundation

/// How fast bytes travel: an average in which the last seconds weigh most.
struct RateEstimate {
    /// After so many seconds a measurement counts for a third of what it did.
    private static let memory = 3.0
    private var time = 0.0
    private var bytes: Int64
    private var sum = 0.0
    private var weight = 0.0

    /// - Parameter bytes: So many are there before the first one arrives.
    init(bytes: Int64 = 0) { self.bytes = bytes }

    /// Bytes a second; nil before there is anything to go by.
    var value: Double? { weight > 0 ? sum / weight : nil }

    /// - Parameters:
    ///   - bytes: In all so far. Fewer than before mean a new attempt.
    ///   - time: In seconds since the beginning.
    mutating func update(bytes: Int64, at time: Double) {
        let elapsed = time - self.time
        guard elapsed > 0 else { return }
        let arrived = max(0, bytes - self.bytes)
        let decay = exp(-elapsed / Self.memory)
        sum = sum * decay + Double(arrived) / elapsed * (1 - decay)
        weight = weight * decay + (1 - decay)
        (self.time, self.bytes) = (time, bytes)
    }

    /// Seconds until so many more bytes are there; nil when that is unknown.
    func seconds(for rest: Int64) -> Double? {
        guard let value, value > 0 else { return nil }
        return Double(max(0, rest)) / value
    }
}
