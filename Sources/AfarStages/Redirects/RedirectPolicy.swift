package import Foundation
package import HTTPTypes

/// What is done about the redirects of an exchange.
package enum RedirectPolicy: Sendable {
    /// They are followed.
    case follow
    /// They are not.
    case doNotFollow
    /// Somebody is asked at each, and says what to send, or nil.
    case ask(@Sendable (RedirectProposal) async throws -> RedirectProposal?)
}

/// What might be sent because of a redirect, before the rules have been applied to it.
package struct RedirectProposal: Sendable {
    package let response: ResponseHead
    package var url: URL
    /// The place as the response names it, of which `url` was made.
    let location: URLReference
    package var method: HTTPRequest.Method
    package var fields: HTTPFields
    package var body: RequestBody
    /// What would be sent again if the method stayed.
    package let originalMethod: HTTPRequest.Method
    package let originalBody: RequestBody
}
