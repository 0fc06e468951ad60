package import Foundation
package import HTTPTypes

/// On which terms a response may be used again: how long it is fresh, how old it was when it came, and how to ask whether
/// it still holds (RFC 9111, sections 4.2 and 4.3).
package struct CacheTerms: Sendable {
    package let control: CacheControl
    /// How long it is fresh, in seconds, from when it was made.
    package let freshnessLifetime: Double
    /// How old it was when it came, in seconds.
    package let initialAge: Double
    package let responseDate: Date
    package let entityTag: String?
    package let lastModified: String?
    /// The names of the request's fields that it depends on; nil for `*`, which no other request is like.
    package let varyingFields: [HTTPField.Name]?

    package init(status: Int, fields: HTTPFields, requestDate: Date, responseDate: Date) {
        let control = CacheControl(fields[values: .cacheControl])
        let date = fields[.date].flatMap(HTTPDate.parse).map(Double.init) ?? responseDate.timeIntervalSince1970
        self.control = control
        self.responseDate = responseDate
        entityTag = fields[.eTag]
        lastModified = fields[.lastModified]
        freshnessLifetime = Self.lifetime(status, control, fields, date)
        initialAge = Self.initialAge(fields, date: date, requestDate, responseDate)
        varyingFields = Self.names(in: fields[values: .vary])
    }

    /// The age in seconds (section 4.2.3). It is unknown, and infinite, if the clock was set back since the response came.
    package func age(at now: Date) -> Double {
        let elapsed = now.timeIntervalSince(responseDate)
        return elapsed < -Self.clockTolerance ? .infinity : initialAge + max(0, elapsed)
    }

    /// By how many seconds a clock may be adjusted.
    private static let clockTolerance: Double = 1

    /// Whether there is something to ask the server by (section 4.3.1).
    package var hasValidator: Bool { entityTag != nil || lastModified != nil }

    /// The statuses that may be kept though nothing is said about how long (RFC 9110, section 15.1).
    package static let heuristicStatuses: Set<Int> = [200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501]

    /// The most that is guessed, in seconds.
    private static let longestGuess: Double = 7 * 24 * 60 * 60

    /// How long a response is fresh (section 4.2.1): what `max-age` says, else `Expires`, else a tenth of the time for which
    /// it had not changed (section 4.2.2).
    private static func lifetime(
        _ status: Int, _ control: CacheControl, _ fields: HTTPFields, _ date: Double
    ) -> Double {
        if let maxAge = control.maxAge { return maxAge }
        let expiries = fields[values: .expires]
        if !expiries.isEmpty {
            // One that cannot be read, "0" say, lies in the past (section 5.3).
            return expiries.map { HTTPDate.parse($0).map { max(0, Double($0) - date) } ?? 0 }.min() ?? 0
        }
        guard heuristicStatuses.contains(status) || control.isPublic,
            let modified = fields[.lastModified].flatMap(HTTPDate.parse)
        else { return 0 }
        return min(longestGuess, max(0, date - Double(modified)) / 10)
    }

    private static func initialAge(
        _ fields: HTTPFields, date: Double, _ requestDate: Date, _ responseDate: Date
    ) -> Double {
        let apparent = max(0, responseDate.timeIntervalSince1970 - date)
        // Of several the first counts (section 5.1).
        let first = fields[values: .age].first.flatMap { $0.split(separator: ",").first }
        let stated = CacheControl.seconds(first.map { $0.trimmingCharacters(in: .whitespaces) }) ?? 0
        return max(apparent, stated + max(0, responseDate.timeIntervalSince(requestDate)))
    }

    private static func names(in values: [String]) -> [HTTPField.Name]? {
        var names: [HTTPField.Name] = []
        for value in values {
            var scanner = FieldScanner(value)
            while scanner.skipToElement() {
                let element = scanner.element()
                guard element != "*", let name = HTTPField.Name(element) else { return nil }
                if !names.contains(name) { names.append(name) }
            }
        }
        return names.sorted { $0.canonicalName < $1.canonicalName }
    }
}
