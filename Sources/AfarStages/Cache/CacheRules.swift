package import AfarTrust
package import Foundation
package import HTTPTypes

/// The rules of a private HTTP cache (RFC 9111): which responses are stored, and when they can be used again. The functions are
/// pure: they neither block nor keep state.
package enum CacheRules {
    package enum Decision: Sendable {
        /// Use the response unchanged.
        case use(CachedResponse)
        /// Use the response, and request a newer one in the background (RFC 5861, section 3).
        case useAndRevalidate(CachedResponse)
        /// Validate the response with the server.
        case validate(CachedResponse)
        /// Send the request as if there were no cache.
        case send
        /// The request forbids network access, and no stored response can be used.
        case unavailable
    }

    // MARK: Requests

    /// Returns whether a cache can answer the request. The method must be GET or HEAD (section 4), without a body. The caller must
    /// not have requested a range or set a condition, because the cache doesn't evaluate these fields.
    package static func canUse(_ request: CacheRequest) -> Bool {
        (request.method == .get || request.method == .head) && !request.hasBody && !request.bypassesCache
    }

    /// Decides how to handle a request, given the stored responses for its URL, newest first (section 4).
    package static func decide(
        _ request: CacheRequest, _ policy: CachePolicy, among responses: [CachedResponse], at now: Date
    ) -> Decision {
        let match = responses.first { matches(request, $0) }
        switch policy {
        case .reload: return .send
        case .cacheElseLoad: return match.map(Decision.use) ?? .send
        case .cacheOnly: return match.map(Decision.use) ?? .unavailable
        case .revalidate: return match.map { $0.terms.hasValidator ? .validate($0) : .send } ?? .send
        case .standard: break
        }
        let wanted = request.control
        guard let match else { return wanted.onlyIfCached ? .unavailable : .send }
        if canServe(match, to: wanted, at: now) { return .use(match) }
        if wanted.onlyIfCached { return .unavailable }
        if canServeWhileRevalidating(match, to: wanted, at: now) { return .useAndRevalidate(match) }
        return match.terms.hasValidator ? .validate(match) : .send
    }

    /// Returns whether the request matches the request that the response was stored for (section 4.1).
    package static func matches(_ request: CacheRequest, _ response: CachedResponse) -> Bool {
        response.terms.varyingFields != nil && isDelivered(response.fields, to: request)
            && variant(of: request, for: response.terms) == response.variant
    }

    /// Returns whether the cache can store a response with these fields for the request, and deliver it later. The cache stores
    /// only decoded bodies.
    private static func isDelivered(_ fields: HTTPFields, to request: CacheRequest) -> Bool {
        request.decodesContent || !fields.contains(.contentEncoding)
    }

    // MARK: Freshness

    private static func canServe(_ response: CachedResponse, to wanted: CacheControl, at now: Date) -> Bool {
        let terms = response.terms
        guard !wanted.noCache, !terms.control.noCache else { return false }
        let age = terms.age(at: now)
        let freshness = terms.freshnessLifetime - age
        if let maxAge = wanted.maxAge, age > maxAge { return false }
        // A response is stale as soon as its age equals its freshness lifetime (section 4.2).
        if freshness > 0 { return freshness >= wanted.minFresh ?? 0 }
        guard let maxStale = wanted.maxStale, !terms.control.mustRevalidate else { return false }
        return -freshness <= maxStale
    }

    private static func canServeWhileRevalidating(
        _ response: CachedResponse, to wanted: CacheControl, at now: Date
    ) -> Bool {
        let terms = response.terms
        guard let window = terms.control.staleWhileRevalidate, !terms.control.mustRevalidate, !terms.control.noCache,
            !wanted.noCache, wanted.maxAge == nil, wanted.minFresh == nil, wanted.maxStale == nil
        else { return false }
        return terms.age(at: now) - terms.freshnessLifetime <= window
    }

    /// Returns whether a stale response can be used after an error (RFC 5861, section 4). An error means that the server can't be reached,
    /// or responds with status 500, 502, 503, or 504.
    package static func canServeOnError(
        _ response: CachedResponse, to wanted: CacheControl, at now: Date
    ) -> Bool {
        let terms = response.terms
        guard !terms.control.mustRevalidate, !terms.control.noCache, !wanted.noCache,
            let window = [wanted.staleIfError, terms.control.staleIfError].compactMap({ $0 }).max()
        else { return false }
        return terms.age(at: now) - terms.freshnessLifetime <= window
    }

    /// The statuses that indicate a server error for which stale responses are allowed.
    package static let errorStatuses: Set<Int> = [500, 502, 503, 504]

    // MARK: Storing

    /// Returns the response in the form in which it is stored, or nil if storing it isn't allowed (section 3).
    package static func storable(
        _ head: ResponseHead, _ body: Data, to request: CacheRequest, requestDate: Date, responseDate: Date
    ) -> CachedResponse? {
        let response = CachedResponse(
            url: request.url, variant: "", status: head.status, fields: storedFields(head.fields), body: body,
            requestDate: requestDate, responseDate: responseDate)
        guard canStore(response.terms, status: head.status, fields: response.fields, request) else { return nil }
        return response.variant(variant(of: request, for: response.terms))
    }

    /// Returns whether a stored response that a 304 has updated can still be stored for this request.
    static func canStoreUpdated(_ response: CachedResponse, for request: CacheRequest) -> Bool {
        canStore(response.terms, status: response.status, fields: response.fields, request, isNew: false)
            && matches(request, response)
    }

    private static func canStore(
        _ terms: CacheTerms, status: Int, fields: HTTPFields, _ request: CacheRequest, isNew: Bool = true
    ) -> Bool {
        let control = terms.control
        let isUnderstood = CacheTerms.heuristicStatuses.contains(status) || [302, 303, 307, 400, 403].contains(status)
        // Event streams are endless, and meant for one client.
        guard request.method == .get || !isNew, canUse(request), isDelivered(fields, to: request),
            !request.control.noStore, MediaType(fields[values: .contentType].last).essence != "text/event-stream",
            terms.varyingFields != nil, status >= 200, status != 206, status != 304,
            control.mustUnderstand ? isUnderstood : !control.noStore
        else { return false }
        let isExplicit = control.maxAge != nil || control.isPublic || fields.contains(.expires)
        // Store the response even without freshness or a validator, because policies that ignore the age can use it.
        return isExplicit || CacheTerms.heuristicStatuses.contains(status)
    }

    /// Fields that control caching or describe the body. They are stored even if `Connection` lists them, because servers must not
    /// list fields that are meant for all recipients (RFC 9110, section 7.6.1).
    private static let alwaysStoredFields: Set<String> = [
        "age", "cache-control", "content-encoding", "content-language", "content-length", "content-location",
        "content-range", "content-type", "date", "etag", "expires", "last-modified", "pragma", "vary",
    ]

    /// Returns the fields that are stored (section 3.1).
    private static func storedFields(_ fields: HTTPFields) -> HTTPFields {
        var connection: Set<String> = [
            "connection", "keep-alive", "proxy-authenticate", "proxy-authentication-info", "proxy-authorization",
            "proxy-connection", "te", "transfer-encoding", "upgrade",
        ]
        for value in fields[values: .connection] {
            var scanner = FieldScanner(value)
            while scanner.skipToElement() { connection.insert(scanner.element().asciiLowercased) }
        }
        connection.subtract(alwaysStoredFields)
        var stored = HTTPFields()
        for field in fields where !connection.contains(field.name.canonicalName) { stored.append(field) }
        return stored
    }

    /// Returns the text that distinguishes the responses for a URL. It contains the fields that `Vary` names (section 4.1), and the target
    /// of the caller's `Host` field. If the response isn't public, the text also contains all credentials and the client's certificate. A
    /// response for one user is therefore never used for another.
    package static func variant(of request: CacheRequest, for terms: CacheTerms) -> String {
        var names = terms.varyingFields ?? []
        var text = request.otherHost.map { "host: \($0)\n" } ?? ""
        if !terms.control.isPublic {
            for name in request.credentials where !names.contains(name) { names.append(name) }
            // The space in the name prevents a conflict with a field.
            if let certificate = request.clientCertificate {
                text += "client certificate: \(digest(of: certificate))\n"
            }
        }
        for name in names {
            let values = request.values(name)
            guard !values.isEmpty else { continue }
            let value = values.map { $0.trimmingCharacters(in: .whitespaces) }.joined(separator: ", ")
            text += "\(name.canonicalName): \(request.isSensitive(name) ? digest(of: value) : value)\n"
        }
        return text
    }

    /// Returns the hash of a text. If the hash function fails, returns a random text, so that the variant matches no other request.
    private static func digest(of text: String) -> String {
        HashFunction.sha256.hexDigest(of: text) ?? UUID().uuidString
    }

    // MARK: Validation

    /// Returns the request fields that validate a response (section 4.3.1).
    package static func conditions(for response: CachedResponse) -> HTTPFields {
        var fields = HTTPFields()
        fields[.ifNoneMatch] = response.terms.entityTag
        fields[.ifModifiedSince] = response.terms.lastModified
        return fields
    }

    /// Returns the response updated with the fields of a 304 (sections 3.2 and 4.3.4). Returns nil if the 304 refers to a different
    /// response.
    package static func updated(
        _ response: CachedResponse, by head: ResponseHead, requestDate: Date, responseDate: Date
    ) -> CachedResponse? {
        let newFields = storedFields(head.fields)
        if let tag = newFields[.eTag], let old = response.terms.entityTag, weak(tag) != weak(old) { return nil }
        let preservedNames: Set<HTTPField.Name> = [.contentLength, .contentEncoding, .contentType, .contentRange]
        var fields = response.fields
        fields[.age] = nil
        for name in Set(newFields.map(\.name)).subtracting(preservedNames) {
            fields[fields: name] = newFields[fields: name]
        }
        return CachedResponse(
            url: response.url, variant: response.variant, status: response.status, fields: fields,
            body: response.body, requestDate: requestDate, responseDate: responseDate,
            isForMemoryOnly: response.isForMemoryOnly)
    }

    /// Returns the part of an entity tag that the weak comparison uses (RFC 9110, section 8.8.3.2).
    private static func weak(_ tag: String) -> Substring { tag.hasPrefix("W/") ? tag.dropFirst(2) : tag[...] }

    /// Returns whether the response to a HEAD request describes the stored response to a GET request (section 4.3.5).
    package static func agrees(_ head: ResponseHead, with response: CachedResponse) -> Bool {
        [HTTPField.Name.eTag, .lastModified, .contentLength].allSatisfy { name in
            guard let new = head.value(for: name), let old = response.fields[name] else { return true }
            return new == old
        }
    }

    // MARK: Invalidation

    /// Returns the URLs whose stored responses are invalid after a request that can change resources. These are the request's
    /// own URL, and the URLs of the same origin that the response names (section 4.4).
    package static func invalidated(by head: ResponseHead, to request: CacheRequest) -> [String] {
        let safe: Set<HTTPRequest.Method> = [.get, .head, .options, .trace]
        guard !safe.contains(request.method), (200..<400).contains(head.status) else { return [] }
        let base = URLReference(request.url)
        guard let origin = URL(base).flatMap({ Origin($0) }) else { return [request.url] }
        let others = [HTTPField.Name.location, .contentLocation].flatMap { head.values(for: $0) }
            .map { URLReference($0).resolved(against: base) }
        return [request.url] + others.compactMap { CacheRequest.url(of: $0) }.filter { $0.hasPrefix(origin.text + "/") }
    }
}

extension CachedResponse {
    fileprivate func variant(_ variant: String) -> CachedResponse {
        CachedResponse(
            url: url, variant: variant, status: status, fields: fields, body: body, requestDate: requestDate,
            responseDate: responseDate)
    }
}

// MARK: - Cache requests

/// The properties of a request that matter to a cache.
package struct CacheRequest: Sendable {
    package let method: HTTPRequest.Method
    /// The key for stored responses: the URL without userinfo and fragment, with its origin normalized.
    package let url: String
    package let hasBody: Bool
    /// Whether the caller requests a range, sets a condition (RFC 9110, sections 13.1 and 14.2), or uses an authenticated
    /// connection.
    package let bypassesCache: Bool
    /// Whether bodies are decoded for the request. If not, a cache neither stores nor returns responses with a content coding.
    package let decodesContent: Bool
    /// The caller's cache directives.
    package let control: CacheControl
    /// The origin that the caller's `Host` field names. Nil if there is no such field, or if the field names the URL's own origin.
    /// The field is part of the target URI (RFC 9110, section 7.1). Stored responses are distinguished by the URL's host and by
    /// this origin, because the two can belong to different servers.
    package let otherHost: String?
    private let client: ClientIdentity?
    private let headerFields: HTTPFields
    private let defaults: DefaultFields
    private let sensitiveHeaders: SensitiveHeaders
    private let hasStoredCookies: Bool

    /// - Parameter client: The certificate and key that the client presents if the server requests them.
    package init(
        _ exchange: Exchange, sensitiveHeaders: SensitiveHeaders = SensitiveHeaders(), client: ClientIdentity? = nil
    ) {
        self.sensitiveHeaders = sensitiveHeaders
        self.client = client
        method = exchange.request.method
        url = Origin(exchange.request).text + (exchange.request.path ?? "")
        hasBody = !exchange.body.isNone
        decodesContent = exchange.options.decodesContent
        headerFields = exchange.request.headerFields
        defaults = exchange.options.defaultFields
        otherHost = exchange.otherHost
        hasStoredCookies = exchange.hasPolicies && exchange.policies.cookies.hasStoredCookies
        // An authenticated connection identifies the user without a header field.
        var bypassesCache = exchange.connectionAuthentication != nil
        for field in headerFields where Self.conditions.contains(field.name.canonicalName) { bypassesCache = true }
        self.bypassesCache = bypassesCache
        let controls = Self.values(.cacheControl, headerFields, defaults)
        var control = CacheControl(controls)
        // The predecessor of `Cache-Control` (section 5.4).
        if controls.isEmpty,
            Self.values(.pragma, headerFields, defaults).contains(where: { $0.asciiLowercased == "no-cache" })
        {
            control.noCache = true
        }
        self.control = control
    }

    private static let conditions: Set<String> = [
        "range", "if-range", "if-match", "if-none-match", "if-modified-since", "if-unmodified-since",
    ]

    /// Returns the key of the stored responses for a URL, or nil if no request can be sent to the URL.
    package static func url(of reference: URLReference) -> String? {
        guard let url = URL(reference), let origin = Origin(url),
            let target = try? RequestTarget(url, writtenAs: reference)
        else { return nil }
        return origin.text + target.path
    }

    /// A key that is equal for requests whose responses are interchangeable.
    package var identity: String {
        let fields = headerFields.map { "\($0.name.canonicalName): \($0.value)" }.sorted()
        return ([url, clientCertificate ?? ""] + fields).joined(separator: "\n")
    }

    /// The certificate that the client presents if the server requests one, in PEM form.
    fileprivate var clientCertificate: String? { client?.certificate.pemEncoded }

    /// The sorted names of the fields with credentials. They include a `Cookie` field that the caller set. They don't include
    /// cookies from a store, which change constantly. Servers whose responses depend on these cookies send `Vary`.
    package var credentials: [HTTPField.Name] {
        let names = Set((headerFields + defaults.fields).map(\.name)).filter(isSensitive)
        return names.filter { $0 != .cookie || !hasStoredCookies }.sorted { $0.canonicalName < $1.canonicalName }
    }

    package func isSensitive(_ name: HTTPField.Name) -> Bool { sensitiveHeaders.contains(name.rawName) }

    package func values(_ name: HTTPField.Name) -> [String] { Self.values(name, headerFields, defaults) }

    private static func values(_ name: HTTPField.Name, _ headerFields: HTTPFields, _ defaults: DefaultFields)
        -> [String]
    {
        let values = headerFields.isEmpty ? [] : headerFields[values: name]
        return values.isEmpty ? defaults.fields[values: name] : values
    }
}

extension HTTPField.Name {
    /// HTTPTypes doesn't define this name.
    fileprivate static let pragma = HTTPField.Name("Pragma") ?? .cacheControl
}
