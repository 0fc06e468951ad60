extension Double {
    /// Returns the nearest number within the range. NaN becomes the lower limit.
    func clamped(to range: ClosedRange<Double>) -> Double {
        self > range.lowerBound ? min(self, range.upperBound) : range.lowerBound
    }
}
