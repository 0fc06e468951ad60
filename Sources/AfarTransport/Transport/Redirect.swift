public import Foundation
public import HTTPTypes

/// A redirect that was followed: what was answered, and what was asked next.
public struct Redirect: Sendable {
    /// The head of the response that led elsewhere.
    public var response: ResponseHead
    /// The request that was sent in its stead, as the rules about redirects left it.
    public var request: HTTPRequest
    /// The URL that it was sent to, with the fragment of the `Location`, otherwise that of the request before.
    public var url: URL
    /// The body that went with it.
    public var body: RequestBody

    /// Makes a redirect.
    public init(response: ResponseHead, request: HTTPRequest, url: URL, body: RequestBody = .none) {
        self.response = response
        self.request = request
        self.url = url
        self.body = body
    }
}

extension ResponseHead {
    /// Whether the response asks the client to send its request elsewhere (RFC 9110, section 15.4). One without a
    /// `Location`, and the statuses 300, 304, 305 and 306, say nothing that could be followed.
    package var isRedirect: Bool {
        switch status {
        case 301, 302, 303, 307, 308: values(for: .location).contains { !$0.isEmpty }
        default: false
        }
    }
}
