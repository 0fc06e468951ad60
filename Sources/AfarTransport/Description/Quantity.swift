import Foundation

/// Formats numbers with units, independent of the locale.
package enum Quantity {
    /// Formats a number of bytes in powers of 1000: "812 bytes", "3.4 MB".
    package static func bytes(_ count: Int64) -> String {
        guard count >= 1000 else { return count == 1 ? "1 byte" : "\(count) bytes" }
        var (value, unit) = (Double(count) / 1000, 0)
        // Otherwise 999,950 would be formatted as 1000.0 kB.
        while value >= 999.5, unit < units.count - 1 { (value, unit) = (value / 1000, unit + 1) }
        return String(format: value < 99.95 ? "%.1f" : "%.0f", value) + " " + units[unit]
    }

    private static let units = ["kB", "MB", "GB", "TB", "PB", "EB"]

    /// Formats a transfer rate: "3.4 MB/s". Returns nil if no time has passed.
    package static func rate(_ count: Int64, in seconds: Double) -> String? {
        guard seconds > 0, Double(count) / seconds < 1e18 else { return nil }
        return bytes(Int64(Double(count) / seconds)) + "/s"
    }

    /// Formats a count with its noun: "1 retry", "2 redirects". Pass `plural` if the plural isn't formed by adding an s.
    package static func count(_ count: Int, of name: String, plural: String? = nil) -> String {
        "\(count) \(count == 1 ? name : plural ?? name + "s")"
    }

    /// Formats a time given in seconds: "12.3 ms".
    package static func milliseconds(_ seconds: Double) -> String {
        String(format: "%.1f ms", seconds * 1000)
    }
}
