import AfarCore
public import Foundation

/// The reason the parts of a file couldn't be combined. Failures of the requests themselves are ``AfarCore/AFError``s.
public enum ParallelDownloadError: Error, Sendable, Hashable {
    /// The file changed on the server during the download, or the requests were redirected to different hosts. Start again.
    case changedOnServer
    /// The server sent other bytes than requested. The associated values are the requested range and the response's `Content-Range`.
    case wrongRange(requested: String, received: String?)
    /// The server sent more or fewer bytes than its header fields specify.
    case wrongLength(expected: Int64, received: Int64)
    /// The response has a content coding, such as `gzip`, although none was requested. Ranges of an encoded body can't be
    /// decoded.
    case contentCoding(String)
    /// The request isn't a GET, or has a body or a `Range` or conditional header.
    case unsupportedRequest
    /// The file can't be written. The associated values are its path and the system's error number, for example `ENOSPC` if the disk is
    /// full.
    case cannotWrite(path: String, code: Int32)
}

extension ParallelDownloadError: CustomStringConvertible, LocalizedError {
    /// A description of the problem and how to fix it.
    public var description: String {
        switch self {
        case .changedOnServer:
            "The file changed on the server during the download, or requests were redirected to different hosts. Start the download again."
        case .wrongRange(let requested, let received):
            "The server sent \(received.map { "the range \(Self.shown($0))" } ?? "no Content-Range") instead of \(requested). Download the file without parallel requests."
        case .wrongLength(let expected, let received):
            "The server sent \(received) bytes instead of \(expected). Download the file without parallel requests."
        case .contentCoding(let coding):
            "The server sent the file with the content coding \(Self.shown(coding)), although none was requested. Download the file without parallel requests."
        case .unsupportedRequest:
            "Parallel downloads require a GET request without a body and without Range, If-Range and other conditional headers."
        case .cannotWrite(let path, let code) where code == ENOSPC || code == EDQUOT:
            "The disk is full, so the file \(TerminalText.line(path)) can't be written: \(String(cString: strerror(code))). Free some space, or choose another destination."
        case .cannotWrite(let path, let code):
            "The file \(TerminalText.line(path)) can't be written: \(String(cString: strerror(code))). Choose another destination."
        }
    }

    private static func shown(_ text: String) -> String {
        TerminalText.line(String(text.unicodeScalars.prefix(300)))
    }

    /// The same text as `description`.
    public var errorDescription: String? { description }
}
