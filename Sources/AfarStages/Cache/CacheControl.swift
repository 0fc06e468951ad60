/// The directives of a request's or response's `Cache-Control` fields (RFC 9111, section 5.2).
///
/// Invalid or repeated directives get the more restrictive meaning: an invalid `max-age` counts as zero, and if there are
/// several, the smallest counts.
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

    /// Creates an instance without directives.
    package init() {}

    /// Parses the values of all `Cache-Control` fields.
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

    /// Parses a number of seconds (section 1.2.2). Larger values count as 2³¹.
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
