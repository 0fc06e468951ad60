public import Foundation

/// The reason resume data can't be used. Handlers receive it in ``AFError/createURLRequestFailed(error:)``; nothing was sent.
public enum ResumeDataError: Error, Sendable, Hashable {
    /// The data isn't this library's resume data. It may belong to another library.
    case notResumeData
    /// The data was created by a newer version of this library, in this version of the format.
    case newerVersion(Int)
    /// The resume data is incomplete or was modified.
    case damaged
    /// Another request is writing to the partial file at this path.
    case inUse(path: String)
}

extension ResumeDataError: CustomStringConvertible, LocalizedError {
    /// A description of the problem and how to fix it.
    public var description: String {
        switch self {
        case .notResumeData:
            "These bytes are not resume data of Afar. Begin the download anew."
        case .newerVersion(let version):
            "The resume data has format \(version), which this version of Afar does not know. Begin the download anew."
        case .damaged:
            "The resume data is damaged: bytes are missing or changed. Begin the download anew."
        case .inUse(let path):
            "Another download is writing to \(TerminalText.line(path)) already. Resume data is good for one download at a time."
        }
    }

    /// The same text as `description`.
    public var errorDescription: String? { description }
}
