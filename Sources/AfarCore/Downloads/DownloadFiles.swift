import Foundation

/// Where a download's bytes are, at one moment.
struct DownloadFiles {
    /// Where the file is, once it is whole.
    var fileURL: URL?
    /// Where the bytes arrive, or did before the file was moved.
    var temporaryURL: URL?
    /// Where the file was moved to.
    var destinationURL: URL?
    /// What is needed to go on with the download.
    var resumeData: Data?
}
