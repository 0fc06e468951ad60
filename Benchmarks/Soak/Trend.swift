/// The straight line through points that lies closest to them (least squares).
struct Trend {
    /// How much the value grows for each step.
    let slope: Double
    /// How far the slope may be off by chance: its standard error.
    let error: Double

    /// Nil for fewer than three points.
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
