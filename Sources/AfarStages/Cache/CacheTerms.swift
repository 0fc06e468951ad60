package import Foundation
package import HTTPTypes

/// The terms for using a response again: how long it is fresh, its age on arrival, and its validators (RFC 9111, sections 4.2 and
/// 4.3).
package struct CacheTerms: Sendable {
    package let control: CacheControl
    /// How long the response is fresh after its creation, in seconds.
    package let freshnessLifetime: Double
    /// The age on arrival, in seconds.
    package let initialAge: Double
    package let responseDate: Date
    package let entityTag: String?
    package let lastModified: String?
    /// The names of the request fields that `Vary` lists; nil for `*`, which no other request matches.
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

    /// Returns the age in seconds (section 4.2.3). It is unknown, and therefore infinite, if the clock was set back since the
    /// response arrived.
    package func age(at now: Date) -> Double {
        let elapsed = now.timeIntervalSince(responseDate)
        return elapsed < -Self.clockTolerance ? .infinity : initialAge + max(0, elapsed)
    }

    /// The number of seconds by which a clock can be adjusted without making the age unknown.
    private static let clockTolerance: Double = 1

    /// Whether the response has a validator, which a conditional request requires (section 4.3.1).
    package var hasValidator: Bool { entityTag != nil || lastModified != nil }

    /// The statuses that can be stored without explicit expiration (RFC 9110, section 15.1).
    package static let heuristicStatuses: Set<Int> = [200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501]

    /// The maximum heuristic freshness lifetime: 7 days, in seconds.
    private static let longestGuess: Double = 7 * 24 * 60 * 60

    /// Returns the freshness lifetime (section 4.2.1) from `max-age`, otherwise from `Expires`. Without either, it is a tenth of
    /// the time since the last modification (section 4.2.2).
    private static func lifetime(
        _ status: Int, _ control: CacheControl, _ fields: HTTPFields, _ date: Double
    ) -> Double {
        if let maxAge = control.maxAge { return maxAge }
        let expiries = fields[values: .expires]
        if !expiries.isEmpty {
            // An invalid date, such as "0", represents a time in the past (section 5.3).
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
        // The first value counts (section 5.1).
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
