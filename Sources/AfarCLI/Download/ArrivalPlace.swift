/// The directory in which a file arrives before it is moved to its destination.
protocol ArrivalPlace: Sendable {
    /// Removes what is left there, once the download is over.
    ///
    /// - Parameter keepsPart: Whether a part has been left to go on with.
    func leave(keepsPart: Bool)
}
