import Foundation

/// The standard error stream.
package enum StandardError {
    /// Writes a text at once. When that fails there is nobody left to tell.
    package static func write(_ text: String) {
        try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
    }

    /// Writes what Afar itself has to say: with the time of day (UTC) and the name before it.
    static func note(_ text: String) {
        write("\(Date.now.formatted(.iso8601.time(includingFractionalSeconds: true))) afar: \(text)\n")
    }
}
