package import Foundation
package import HTTPTypes

/// How the redirects of an exchange are handled.
package enum RedirectPolicy: Sendable {
    /// Follows redirects.
    case follow
    /// Doesn't follow redirects.
    case doNotFollow
    /// Calls a closure for each redirect, which returns the request to send, or nil to not follow the redirect.
    case ask(@Sendable (RedirectProposal) async throws -> RedirectProposal?)
}

/// A request that a redirect suggests, before the rules are applied to it.
package struct RedirectProposal: Sendable {
    package let response: ResponseHead
    package var url: URL
    /// The reference that `url` was created from, in the spelling of the response.
    let location: URLReference
    package var method: HTTPRequest.Method
    package var fields: HTTPFields
    package var body: RequestBody
    /// The method and the body of the original request, which are sent again if the redirect keeps the method.
    package let originalMethod: HTTPRequest.Method
    package let originalBody: RequestBody
}
