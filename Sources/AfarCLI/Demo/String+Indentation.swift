extension String {
    /// Every line but empty ones moved to the right.
    ///
    /// - Parameter count: The number of spaces that each begins with then.
    func indented(by count: Int) -> String {
        let space = String(repeating: " ", count: count)
        return split(separator: "\n", omittingEmptySubsequences: false).map { $0.isEmpty ? "" : space + $0 }
            .joined(separator: "\n")
    }
}
