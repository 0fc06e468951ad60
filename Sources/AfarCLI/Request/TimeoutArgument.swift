import ArgumentParser

/// The values of `--timeout`.
enum TimeoutArgument {
    /// - Throws: A `ValidationError` for what is no time to wait.
    static func check(_ seconds: Double) throws {
        guard seconds > 0, seconds <= 604_800 else {
            throw ValidationError("--timeout is in seconds, more than 0 and at most 604800 (a week).")
        }
    }
}
