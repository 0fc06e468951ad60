public import Foundation

/// Why resume data cannot be used. It reaches the handlers inside ``AFError/createURLRequestFailed(error:)``; nothing was
/// sent.
public enum ResumeDataError: Error, Sendable, Hashable {
    /// The bytes are not resume data of this library; another one's, perhaps.
    case notResumeData
    /// A newer version of this library made them, in a format of this number.
    case newerVersion(Int)
    /// They are resume data of which a part is missing or was changed.
    case damaged
    /// The part of the file at this path is being written to by another request.
    case inUse(path: String)
}

extension ResumeDataError: CustomStringConvertible, LocalizedError {
    /// What is wrong, and what to do.
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

    /// The same text.
    public var errorDescription: String? { description }
}
