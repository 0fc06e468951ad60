/// A linear regression (least squares).
struct Trend {
    /// The growth of the value per step.
    let slope: Double
    /// The standard error of the slope.
    let error: Double

    /// Returns `nil` for fewer than three points.
    init?(_ points: [(x: Double, y: Double)]) {
        guard points.count > 2 else { return nil }
        let count = Double(points.count)
        let meanX = points.reduce(0) { $0 + $1.x } / count
        let meanY = points.reduce(0) { $0 + $1.y } / count
        let spread = points.reduce(0) { $0 + ($1.x - meanX) * ($1.x - meanX) }
        guard spread > 0 else { return nil }
        let slope = points.reduce(0) { $0 + ($1.x - meanX) * ($1.y - meanY) } / spread
        let rest = points.reduce(0) { sum, point in
            let distance = point.y - meanY - slope * (point.x - meanX)
            return sum + distance * distance
        }
        self.slope = slope
        error = (rest / (count - 2) / spread).squareRoot()
    }
}
