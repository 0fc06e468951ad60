public import Foundation

/// An error of zlib: zlib ran out of memory, or isn't the version that Afar was built with.
public struct CompressionError: Error, Equatable, Sendable {
    /// zlib's status, such as -4 for insufficient memory.
    public let status: Int32

    /// zlib's message; empty if zlib provides none.
    public let message: String

    /// Creates the error.
    public init(status: Int32, message: String) {
        self.status = status
        self.message = message
    }
}

extension CompressionError: LocalizedError {
    /// A description for users.
    public var errorDescription: String? {
        "The body could not be compressed: zlib returned status \(status)\(message.isEmpty ? "" : ", \(message)")."
            + " Send it uncompressed."
    }
}
