public import Foundation

/// Why a body could not be compressed: zlib ran out of memory, or is not the version that this was built for.
public struct CompressionError: Error, Equatable, Sendable {
    /// zlib's status, such as -4 for too little memory.
    public let status: Int32

    /// zlib's own words; empty where it has none.
    public let message: String

    /// Makes the error.
    public init(status: Int32, message: String) {
        self.status = status
        self.message = message
    }
}

extension CompressionError: LocalizedError {
    /// What went wrong, for a person.
    public var errorDescription: String? {
        "The body could not be compressed: zlib gave the status \(status)\(message.isEmpty ? "" : ", \(message)")."
            + " Send it as it is."
    }
}
