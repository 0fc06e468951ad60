public import Foundation
public import HTTPTypes

/// A redirect that was followed: the response, and the request that was sent next.
public struct Redirect: Sendable {
    /// The head of the redirect response.
    public var response: ResponseHead
    /// The request that was sent next, after the redirect rules were applied.
    public var request: HTTPRequest
    /// The URL of that request, with the fragment of the `Location`, or that of the previous request if the `Location` has none.
    public var url: URL
    /// The body of that request.
    public var body: RequestBody

    /// Creates a redirect.
    public init(response: ResponseHead, request: HTTPRequest, url: URL, body: RequestBody = .none) {
        self.response = response
        self.request = request
        self.url = url
        self.body = body
    }
}

extension ResponseHead {
    /// Whether the response is a redirect that can be followed (RFC 9110, section 15.4). Responses without a `Location`, and
    /// those with the statuses 300, 304, 305 and 306, can't be followed.
    package var isRedirect: Bool {
        switch status {
        case 301, 302, 303, 307, 308: values(for: .location).contains { !$0.isEmpty }
        default: false
        }
    }
}
