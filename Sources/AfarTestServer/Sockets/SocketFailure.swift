import Foundation

/// A system call on a socket that failed.
public struct SocketFailure: Error, Sendable, Equatable, CustomStringConvertible {
    /// The name of the system call, as in `bind`.
    public let operation: String

    /// The value of `errno` after the call.
    public let code: Int32

    /// The operation, the system's text for the code, and the code.
    public var description: String {
        "\(operation): \(String(cString: strerror(code))) (errno \(code))"
    }

    init(_ operation: String, code: Int32 = errno) {
        self.operation = operation
        self.code = code
    }
}
