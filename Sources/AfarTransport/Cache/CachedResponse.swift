public import Foundation
public import HTTPTypes

/// A complete response to a GET that a cache keeps, with what it must know to use it again (RFC 9111, section 3).
public final class CachedResponse: Sendable {
    /// The URL that was asked, as text, without fragment; its scheme and host in lower case, without the scheme's own port.
    public let url: String
    /// What separates this response from others of the same URL: the request's fields that `Vary` names, a `Host` of the
    /// caller's, and credentials. Values of sensitive fields are in it as hashes.
    public let variant: String
    /// The status code.
    public let status: Int
    /// The header fields, without those that are meant for one connection (section 3.1).
    public let fields: HTTPFields
    /// The body, decoded.
    public let body: Data
    /// When the request was sent.
    public let requestDate: Date
    /// When the response's head came, or the response was last found to be valid.
    public let responseDate: Date
    /// Whether it must not be written to a disk.
    public let isForMemoryOnly: Bool
    /// What its fields mean, read once.
    package let terms: CacheTerms

    /// Makes a response, for stores that bring back what they were given.
    public init(
        url: String, variant: String, status: Int, fields: HTTPFields, body: Data, requestDate: Date,
        responseDate: Date, isForMemoryOnly: Bool = false
    ) {
        self.url = url
        self.variant = variant
        self.status = status
        self.fields = fields
        self.body = body
        self.requestDate = requestDate
        self.responseDate = responseDate
        self.isForMemoryOnly = isForMemoryOnly
        terms = CacheTerms(status: status, fields: fields, requestDate: requestDate, responseDate: responseDate)
    }

    /// About how many bytes it takes in memory.
    public var byteCount: Int {
        fields.reduce(body.count + url.utf8.count + variant.utf8.count + 512) { sum, field in
            sum + field.name.rawName.utf8.count + field.value.utf8.count + 64
        }
    }
}
