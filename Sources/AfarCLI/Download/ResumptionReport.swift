import AfarCore

/// How `--resume` continued, in one line for the person who asked for it.
enum ResumptionReport {
    /// - Parameters:
    ///   - part: What was there to resume.
    ///   - offset: How much of it counts.
    ///   - next: What a next run could resume.
    /// - Returns: Nil when there is nothing to say.
    static func line(part: ResumeData?, offset: Int64, next: ResumeData?, status: Int) -> String? {
        guard (200..<300).contains(status) else { return nil }
        if offset > 0 {
            let total = next?.totalLength.map { " of \(Quantity.bytes($0))" } ?? ""
            return "Resumed at \(Quantity.bytes(offset))\(total)."
        }
        guard let part else {
            return next == nil ? "This cannot be resumed: no strong ETag, no old Last-Modified, or encoded." : nil
        }
        if let next, next.origin != part.origin { return "Started over: it comes from another server now." }
        return next?.validator == part.validator
            ? "Started over: the server sends no parts of it." : "Started over: it has changed on the server."
    }
}
