public import Foundation

/// Why a file of cookies, of HSTS hosts or of cached responses cannot be read or written.
public enum StoreFileError: Error, Sendable, Hashable {
    /// The path leads to something else: a directory, a symbolic link, a pipe, a device.
    case notARegularFile(URL)
    /// The file cannot be opened or read.
    case unreadable(URL, POSIXErrorCode)
    /// The file has more than 64 MiB.
    case tooLarge(URL)
    /// Another process holds the file's lock for more than five seconds.
    case inUse(URL)
    /// The file cannot be written. What it had is still there.
    case unwritable(URL, POSIXErrorCode)
}

extension StoreFileError: LocalizedError, CustomStringConvertible {
    /// What is wrong with which file.
    public var description: String {
        switch self {
        case .notARegularFile(let file): "\(file.path) is no regular file"
        case .unreadable(let file, let code): "\(file.path) cannot be read: \(Self.text(code))"
        case .tooLarge(let file): "\(file.path) is larger than 64 MiB"
        case .inUse(let file): "\(file.path) is in use by another process, which holds its lock"
        case .unwritable(let file, let code): "\(file.path) cannot be written: \(Self.text(code))"
        }
    }

    /// The same sentence.
    public var errorDescription: String? { description }

    private static func text(_ code: POSIXErrorCode) -> String { String(cString: strerror(code.rawValue)) }
}
