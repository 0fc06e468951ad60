import AfarCore

/// The directory in which a file arrives before it is moved to its destination.
///
/// It is made before the request, so that nothing is sent when nothing can be written.
protocol DownloadDirectory: Sendable {
    /// Removes what is left there, once the download is over.
    ///
    /// - Parameter part: What a next run can resume; nil to leave nothing.
    func cleanUp(keeping part: ResumeData?)
}
