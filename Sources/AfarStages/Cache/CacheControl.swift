/// What the Cache-Control fields of a request or a response say (RFC 9111, section 5.2).
///
/// What cannot be read is taken for what lets a cache do less: a bad `max-age` for zero, the smallest of several.
package struct CacheControl: Sendable, Equatable {
    package var isPublic = false
    package var noStore = false
    /// With the names of fields too: then it means more than it has to.
    package var noCache = false
    package var mustRevalidate = false
    package var mustUnderstand = false
    package var onlyIfCached = false
    /// In seconds, as are the others; nil when it is not said.
    package var maxAge: Double?
    package var minFresh: Double?
    /// Infinite when no number is said.
    package var maxStale: Double?
    package var staleWhileRevalidate: Double?
    package var staleIfError: Double?

    /// Says nothing.
    package init() {}

    /// Reads the values of all fields of the name.
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

    /// Seconds (section 1.2.2); as many as 2³¹ when there are more.
    static func seconds(_ text: String?) -> Double? {
        guard let text, !text.isEmpty, text.utf8.allSatisfy(\.isDigit) else { return nil }
        return min(Double(text) ?? .infinity, 2_147_483_648)
    }
}

/// How a request uses a cache; Foundation's `URLRequest.CachePolicy` in other words.
package enum CachePolicy: Sendable {
    /// As RFC 9111 says.
    case standard
    /// What is kept is not used. What comes is kept.
    case reload
    /// What is kept is used, however old it is.
    case cacheElseLoad
    /// The same, and nothing goes over the network.
    case cacheOnly
    /// The server is asked whether what is kept still holds.
    case revalidate
}

/// Returns the response that the cache stores in place of the one received; nil to store none.
package typealias CacheHandler = @Sendable (CachedResponse) -> Reply<CachedResponse?>
