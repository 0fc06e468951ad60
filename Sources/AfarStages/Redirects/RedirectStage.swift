package import Foundation
package import HTTPTypes

/// A stage that follows redirects. Only the exchange's redirect policy decides whether a redirect is followed.
package struct RedirectStage: ExchangeStage {
    /// The `StageRun` of every exchange that follows redirects without a redirect handler. It has no mutable state, so all
    /// these exchanges can share it.
    private let following: Run

    package init(rules: RedirectRules = RedirectRules()) {
        following = Run(rules: rules, policy: .follow)
    }

    package func begin(_ hop: Hop) -> (any StageRun)? {
        let policy = hop.exchange.policies.redirects
        return switch policy {
        case .doNotFollow: nil
        case .follow: following
        case .custom: Run(rules: following.rules, policy: policy)
        }
    }

    private final class Run: StageRun {
        let rules: RedirectRules
        let policy: RedirectPolicy

        init(rules: RedirectRules, policy: RedirectPolicy) {
            self.rules = rules
            self.policy = policy
        }

        /// Removes the handler from the exchange. The handler retains the request, and no later stage uses the handler.
        func before(_ hop: Hop) -> Reply<RequestAction> {
            guard case .custom = policy else { return .now(.send) }
            var exchange = hop.exchange
            exchange.policies.redirects = .follow
            return .now(.change(exchange))
        }

        func head(_ head: ResponseHead, of hop: Hop) -> Reply<ResponseAction> {
            guard head.isRedirect else { return .now(.pass) }
            do throws(TransportError) {
                let proposal = try rules.proposal(after: head, to: hop.exchange)
                guard case .custom(let decide) = policy else { return .now(try rules.follow(proposal, after: hop)) }
                return .wait { [rules] in await rules.follow(proposal, after: hop, decidingBy: decide) }
            } catch {
                return .now(.fail(error))
            }
        }
    }
}

extension RedirectRules {
    fileprivate func follow(
        _ proposal: RedirectProposal, after hop: Hop,
        decidingBy decide: @Sendable (RedirectProposal) async throws -> RedirectProposal?
    ) async -> ResponseAction {
        let decision: RedirectProposal?
        do {
            decision = try await decide(proposal)
        } catch {
            return .fail(
                TransportError(
                    .invalidRedirect, phase: .receiving, url: hop.exchange.url,
                    message: "the redirect handler returned a request that cannot be sent", underlying: error))
        }
        guard !Task.isCancelled else {
            return .fail(
                TransportError(
                    .cancelled, phase: .receiving, url: hop.exchange.url,
                    message: "the exchange was cancelled while the redirect handler ran"))
        }
        guard let decision else { return .pass }
        do throws(TransportError) { return try follow(decision, after: hop) } catch { return .fail(error) }
    }

    fileprivate func follow(_ proposal: RedirectProposal, after hop: Hop) throws(TransportError) -> ResponseAction {
        guard hop.redirectCount < maximum else {
            throw TransportError(
                .tooManyRedirects, phase: .receiving, url: hop.exchange.url,
                message: "more than \(maximum) redirects, the last one to "
                    + "\(Redaction.standard.url(proposal.url.absoluteString).prefix(1_000))")
        }
        let next = try exchange(after: proposal, to: hop.exchange, hasLeft: hop.hasLeftOrigin)
        let redirect = Redirect(
            response: proposal.response, request: next.request, url: proposal.url.upgraded(like: next.request),
            body: next.body)
        return .follow(next, .redirect(redirect))
    }
}

extension URL {
    /// Returns the URL with https instead of http if the request was upgraded.
    fileprivate func upgraded(like request: HTTPRequest) -> URL {
        guard request.scheme == "https", scheme?.lowercased() == "http",
            var components = URLComponents(url: self, resolvingAgainstBaseURL: true)
        else { return self }
        components.scheme = "https"
        if components.port == 80 { components.port = nil }
        return components.url ?? self
    }
}

package enum RedirectPolicy: Sendable {
    case follow
    case doNotFollow
    /// Calls a closure for each redirect. The closure returns the request to send, or nil to not follow the redirect.
    case custom(@Sendable (RedirectProposal) async throws -> RedirectProposal?)
}

/// A request that a redirect suggests, before the rules are applied to it.
package struct RedirectProposal: Sendable {
    package let response: ResponseHead
    package var url: URL
    /// The reference from which `url` was created, as written in the response.
    let location: URLReference
    package var method: HTTPRequest.Method
    package var fields: HTTPFields
    package var body: RequestBody
    /// The method and the body of the original request, which are sent again if the redirect keeps the method.
    package let originalMethod: HTTPRequest.Method
    package let originalBody: RequestBody
}
