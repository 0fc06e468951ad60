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

    /// Returns the age in seconds (section 4.2.3). The age is unknown, and therefore infinite, if the clock has been set back since
    /// the response arrived.
    package func age(at now: Date) -> Double {
        let elapsed = now.timeIntervalSince(responseDate)
        return elapsed < -Self.clockTolerance ? .infinity : initialAge + max(0, elapsed)
    }

    /// The number of seconds by which a clock can be set back without making the age unknown.
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
            // Invalid dates, such as "0", are in the past (section 5.3).
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

/// The directives of a request's or response's `Cache-Control` fields (RFC 9111, section 5.2).
///
/// Invalid or repeated directives get the more restrictive meaning. For example, an invalid `max-age` counts as zero, and the
/// smallest of several `max-age` values counts.
package struct CacheControl: Sendable, Equatable {
    package var isPublic = false
    package var noStore = false
    /// Also true if `no-cache` lists field names, which is stricter than required.
    package var noCache = false
    package var mustRevalidate = false
    package var mustUnderstand = false
    package var onlyIfCached = false
    /// The duration in seconds, like the properties below; nil if the directive is absent.
    package var maxAge: Double?
    package var minFresh: Double?
    /// The duration in seconds; infinite if the directive has no value.
    package var maxStale: Double?
    package var staleWhileRevalidate: Double?
    package var staleIfError: Double?

    package init() {}

    package init(_ values: [String]) {
        for value in values {
            var scanner = FieldScanner(value)
            while scanner.skipToElement() {
                guard let name = scanner.token() else {
                    _ = scanner.element()
                    continue
                }
                let argument = scanner.skip("=") ? scanner.quotedString() ?? scanner.token() ?? "" : nil
                take(name.asciiLowercased, argument)
                _ = scanner.element()
            }
        }
    }

    private mutating func take(_ name: String, _ argument: String?) {
        switch name {
        case "public": isPublic = true
        case "no-store": noStore = true
        case "no-cache": noCache = true
        case "must-revalidate": mustRevalidate = true
        case "must-understand": mustUnderstand = true
        case "only-if-cached": onlyIfCached = true
        case "max-age": maxAge = min(maxAge ?? .infinity, Self.seconds(argument) ?? 0)
        case "min-fresh": minFresh = max(minFresh ?? 0, Self.seconds(argument) ?? .infinity)
        case "max-stale":
            let seconds = argument == nil ? .infinity : Self.seconds(argument) ?? 0
            maxStale = min(maxStale ?? .infinity, seconds)
        case "stale-while-revalidate":
            staleWhileRevalidate = min(staleWhileRevalidate ?? .infinity, Self.seconds(argument) ?? 0)
        case "stale-if-error": staleIfError = min(staleIfError ?? .infinity, Self.seconds(argument) ?? 0)
        default: break
        }
    }

    /// Parses a number of seconds (section 1.2.2). Values larger than 2³¹ count as 2³¹.
    static func seconds(_ text: String?) -> Double? {
        guard let text, !text.isEmpty, text.utf8.allSatisfy(\.isDigit) else { return nil }
        return min(Double(text) ?? .infinity, 2_147_483_648)
    }
}

/// How a request uses a cache. The cases correspond to those of Foundation's `URLRequest.CachePolicy`.
package enum CachePolicy: Sendable {
    /// Follows RFC 9111.
    case standard
    /// Doesn't use stored responses, but stores new ones.
    case reload
    /// Uses a stored response regardless of its age.
    case cacheElseLoad
    /// Uses a stored response regardless of its age, and never accesses the network.
    case cacheOnly
    /// Validates a stored response with the server before using it.
    case revalidate
}

/// Returns the response that the cache stores in place of the received one, or nil to store nothing.
package typealias CacheHandler = @Sendable (CachedResponse) -> Reply<CachedResponse?>
