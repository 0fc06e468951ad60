import Foundation
import HTTPTypes

/// What is done about the redirects of an exchange.
enum RedirectPolicy: Sendable {
    /// They are followed.
    case follow
    /// They are not.
    case doNotFollow
    /// Somebody is asked at each, and says what to send, or nil.
    case ask(@Sendable (RedirectProposal) async throws -> RedirectProposal?)
}

/// Where an exchange's policy about redirects stands in its context.
enum RedirectPolicyKey: ExchangeContextKey {
    static let defaultValue = RedirectPolicy.follow
}

/// What might be sent because of a redirect, before the rules have been applied to it.
struct RedirectProposal: Sendable {
    let response: ResponseHead
    var url: URL
    var method: HTTPRequest.Method
    var fields: HTTPFields
    var body: RequestBody
    /// What would be sent again if the method stayed.
    let originalMethod: HTTPRequest.Method
    let originalBody: RequestBody
}
