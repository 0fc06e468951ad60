import Foundation

/// The standard error stream, where everything goes that is not the response itself.
enum StandardError {
    /// Writes a text at once. When that fails there is nobody left to tell.
    static func write(_ text: String) {
        try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
    }
}
