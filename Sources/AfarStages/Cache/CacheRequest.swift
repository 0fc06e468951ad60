package import AfarTrust
import Foundation
package import HTTPTypes

/// The properties of a request that matter to a cache.
package struct CacheRequest: Sendable {
    package let method: HTTPRequest.Method
    /// The key for stored responses: the URL without userinfo and fragment, with its origin normalized.
    package let url: String
    package let hasBody: Bool
    /// Whether the caller requests a range, sets a condition (RFC 9110, sections 13.1 and 14.2), or uses an authenticated
    /// connection.
    package let bypassesCache: Bool
    /// Whether bodies are decoded for the request. A cache stores bodies as they were delivered.
    package let decodesContent: Bool
    /// The caller's cache directives.
    package let control: CacheControl
    /// The origin that the caller's `Host` field names; nil without one, or if it is that of the URL. It is part of the target
    /// URI (RFC 9110, section 7.1). It doesn't replace the URL's host, since another server may have answered there.
    package let otherHost: String?
    private let client: ClientIdentity?
    private let own: HTTPFields
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
        own = exchange.request.headerFields
        defaults = exchange.options.defaultFields
        otherHost = exchange.otherHost
        hasStoredCookies = exchange.hasPolicies && exchange.policies.cookies.hasStoredCookies
        // Connection authentication identifies the user without a header field.
        var bypassesCache = exchange.connectionAuthentication != nil
        for field in own where Self.conditions.contains(field.name.canonicalName) { bypassesCache = true }
        self.bypassesCache = bypassesCache
        let controls = Self.values(.cacheControl, own, defaults)
        var control = CacheControl(controls)
        // `Pragma` is the predecessor of `Cache-Control` (section 5.4).
        if controls.isEmpty, Self.values(.pragma, own, defaults).contains(where: { $0.asciiLowercased == "no-cache" }) {
            control.noCache = true
        }
        self.control = control
    }

    private static let conditions: Set<String> = [
        "range", "if-range", "if-match", "if-none-match", "if-modified-since", "if-unmodified-since",
    ]

    /// Returns the key for stored responses to a URL, or nil if no request can be sent to it.
    package static func url(of reference: URLReference) -> String? {
        guard let url = URL(reference), let origin = Origin(url),
            let target = try? RequestTarget(url, writtenAs: reference)
        else { return nil }
        return origin.text + target.path
    }

    /// A key that is equal for two requests if nothing can distinguish their responses.
    package var identity: String {
        let fields = own.map { "\($0.name.canonicalName): \($0.value)" }.sorted()
        return ([url, clientCertificateDigest ?? ""] + fields).joined(separator: "\n")
    }

    /// The digest of the certificate that the client presents if the server requests one.
    var clientCertificateDigest: String? { client.map { SHA256.hexDigest(of: $0.certificate.pemEncoded) } }

    /// The names of the fields with credentials, sorted. They include cookies that the caller set, but not cookies from a store:
    /// those change constantly, and servers whose responses depend on them send `Vary`.
    package var credentials: [HTTPField.Name] {
        let names = Set((own + defaults.fields).map(\.name)).filter(isSensitive)
        return names.filter { $0 != .cookie || !hasStoredCookies }.sorted { $0.canonicalName < $1.canonicalName }
    }

    package func isSensitive(_ name: HTTPField.Name) -> Bool { sensitiveHeaders.contains(name.rawName) }

    /// Returns the values of a field as they are sent.
    package func values(_ name: HTTPField.Name) -> [String] { Self.values(name, own, defaults) }

    private static func values(_ name: HTTPField.Name, _ own: HTTPFields, _ defaults: DefaultFields) -> [String] {
        let values = own.isEmpty ? [] : own[values: name]
        return values.isEmpty ? defaults.fields[values: name] : values
    }
}

extension HTTPField.Name {
    /// HTTPTypes doesn't define this name.
    fileprivate static let pragma = HTTPField.Name("Pragma") ?? .cacheControl
}
