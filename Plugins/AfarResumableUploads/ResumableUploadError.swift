import AfarCore
import AfarTransport
public import Foundation

/// The reason a resumable upload failed. Failures of the requests themselves, and cancellation, are ``AFError``s.
///
/// Descriptions don't contain URL queries, credentials or text that the server sent.
public enum ResumableUploadError: Error, Sendable {
    /// The options contradict each other or the protocol. The text names the option and the alternative.
    case invalidOptions(String)
    /// The file can't be opened or read.
    case unreadableFile(path: String, reason: String)
    /// The file has changed since the upload began, so the bytes that the server has are unusable. To send the new file from its beginning,
    /// remove the record.
    case fileChanged(path: String)
    /// The caller's sequence of chunks threw an error.
    case sourceFailed(any Error)
    /// The server requires bytes that a sequence has already provided and that are no longer in memory.
    case sourceCannotRewind(to: Int64)
    /// The record on disk is damaged, or describes another upload. Remove it to start from the beginning.
    case invalidRecord(path: String, reason: String)
    /// Another upload in this or another process uses the record.
    case recordInUse(path: String)
    /// The record can't be read or written.
    case recordInaccessible(path: String, reason: String)
    /// The connection was lost before the server had announced the URL of the upload, so it is unknown whether the server has processed
    /// the request. Set ``ResumableUploadOptions/createsBeforeSending`` to make the whole upload resumable.
    case notResumable(any Error)
    /// The server refused a request.
    ///
    /// - `method`: The request's method.
    /// - `data`: The body of the response, for example problem details (RFC 9457).
    case rejected(method: String, status: Int, data: Data)
    /// The server doesn't support the version of the protocol. The array contains the versions that it announced.
    case unsupportedVersion([String])
    /// The file is larger than the server allows. The associated value is the maximum number of bytes that it announced.
    case tooLarge(limit: Int64)
    /// A server or a proxy refused a request because of its size (413), without announcing a limit for uploads. Set
    /// ``ResumableUploadOptions/chunkSize`` to less than this number of bytes.
    case requestTooLarge(byteCount: Int64)
    /// The server no longer has the upload, and starting over once didn't help.
    case uploadGone(status: Int)
    /// The response has no valid `Upload-Offset`, or its offset is impossible.
    case invalidOffset(String)
    /// The server has recorded another length of the upload.
    case lengthMismatch(expected: Int64, server: Int64)
    /// The response has no usable `Location`, or several different ones.
    case invalidLocation(String)
    /// The origin of the upload's URL differs from the origin of the request that created the upload. To permit this, set
    /// ``ResumableUploadOptions/allowsOtherOrigins``.
    case otherOrigin(host: String)
    /// The upload's URL isn't secure, although the URL of the request that created the upload is.
    case insecureLocation(host: String)
    /// Several attempts in a row didn't add a byte to the upload. `lastError` is the error of the last attempt.
    case noProgress(attempts: Int, lastError: any Error)
    /// The upload was interrupted too often in total. `lastError` is the reason of the last interruption.
    case tooManyInterruptions(count: Int, lastError: any Error)
}

extension ResumableUploadError: CustomStringConvertible, LocalizedError {
    /// A description of the problem and how to fix it.
    public var description: String {
        switch self {
        case .invalidOptions(let text): "The upload's options are invalid: \(text)"
        case .unreadableFile(let path, let reason):
            "The file \(TerminalText.line(path)) can't be read: \(reason). Upload a regular file that this process can read."
        case .fileChanged(let path):
            "The file \(TerminalText.line(path)) has changed since the upload began. Remove the record to upload it from its beginning."
        case .sourceFailed(let error): "The upload's sequence of chunks failed: \(error.localizedDescription)"
        case .sourceCannotRewind(let offset):
            "The server requires the bytes from \(offset), which are no longer in memory. Upload a file instead."
        case .invalidRecord(let path, let reason):
            "The record \(TerminalText.line(path)) \(reason). Remove it to upload from the beginning."
        case .recordInUse(let path):
            "Another upload uses the record \(TerminalText.line(path)). Wait for its end, or use another record."
        case .recordInaccessible(let path, let reason):
            "The record \(TerminalText.line(path)) can't be used: \(reason). Choose a location that this process can write to."
        case .notResumable(let error):
            "The connection was lost before the server announced a URL for the upload, so it can't be resumed. Set createsBeforeSending to avoid this. The reason: \(error.localizedDescription)"
        case .rejected(let method, let status, _): "The server refused the \(method) request with the status \(status)."
        case .unsupportedVersion(let versions):
            "The server doesn't support this version of the upload protocol. "
                + (versions.isEmpty
                    ? "Choose another protocol." : "It supports \(versions.joined(separator: ", ")).")
        case .tooLarge(let limit): "The server accepts uploads of at most \(limit) bytes. Upload a smaller file."
        case .requestTooLarge(let count):
            "The server or a proxy refused a request with \(count) bytes (status 413). Set chunkSize to a smaller number."
        case .uploadGone(let status):
            "The server no longer has the upload (status \(status)). Start a new one."
        case .invalidOffset(let reason):
            "The server's Upload-Offset \(reason). The server doesn't follow the protocol."
        case .lengthMismatch(let expected, let server):
            "The upload has \(expected) bytes, but the server expects \(server). Upload the same file, or start a new upload."
        case .invalidLocation(let reason): "The server's Location \(reason). The server doesn't follow the protocol."
        case .otherOrigin(let host):
            "The upload's URL is on another origin (host \(TerminalText.line(host))). Set allowsOtherOrigins to permit this."
        case .insecureLocation(let host):
            "The upload's URL (host \(TerminalText.line(host))) isn't secure, so nothing is sent to it. Configure the server to use https."
        case .noProgress(let attempts, let error):
            "The upload made no progress in \(attempts) attempts. The last one failed: \(error.localizedDescription)"
        case .tooManyInterruptions(let count, let error):
            "The upload was interrupted \(count) times. The last reason: \(error.localizedDescription)"
        }
    }

    /// The same text as `description`.
    public var errorDescription: String? { description }
}

/// A failure after which the upload continues, within its limits.
enum Interruption: Error {
    /// The connection was lost, or the server is unable to continue now.
    case transient(any Error, retryAfter: Duration?)
    /// The server no longer has the upload.
    case gone(status: Int)
}

/// A response that asks for another attempt.
struct TemporaryRefusal: LocalizedError {
    let method: String
    let status: Int

    var errorDescription: String? { "The server answered the \(method) request with the status \(status)." }
}

/// An append after which the server's offset isn't higher than before.
struct OffsetNotAdvanced: LocalizedError {
    let offset: Int64

    var errorDescription: String? { "The server's offset of \(offset) didn't advance." }
}
