import AfarCore

/// The directory in which a file arrives before it is moved to its destination.
protocol ArrivalPlace: Sendable {
    /// Removes what is left there, once the download is over.
    ///
    /// - Parameter part: What there is to go on with.
    func leave(keeping part: ResumeData?)
}
