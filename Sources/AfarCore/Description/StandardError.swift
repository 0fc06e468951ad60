import Foundation

/// The standard error stream.
package enum StandardError {
    /// Writes a text immediately. A failure is ignored, because it can't be reported anywhere.
    package static func write(_ text: String) {
        try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
    }

    /// Writes one of Afar's own messages, preceded by the time of day (UTC) and the name.
    static func note(_ text: String) {
        write("\(Date.now.formatted(.iso8601.time(includingFractionalSeconds: true))) afar: \(text)\n")
    }
}
