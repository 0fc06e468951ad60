import Foundation
import HTTPTypes

/// The rules about redirects: how a response and a request make the next request, and what it must not carry.
package struct RedirectRules: Sendable {
    /// How many redirects are followed in one exchange.
    package var maximum: Int
    /// Whether a redirect may lead from https to http.
    package var allowsInsecure: Bool
    /// Knows which hosts are asked by https only; nil when none are.
    private let hsts: HSTSUpgrade?
    /// The headers that stay with the origin that they were meant for. So does `Host`: the name of a host is no other's.
    private let sensitiveHeaders: SensitiveHeaders

    /// Fields about a body that goes with them (RFC 9110, section 15.4), beside those that begin with `Content-`.
    private static let aboutBody: Set<HTTPField.Name> = [
        .transferEncoding, .expect, .lastModified, .trailer, HTTPField.Name("Digest"), HTTPField.Name("Repr-Digest"),
    ].compactSet

    package init(
        maximum: Int = 20, allowsInsecure: Bool = false, sensitiveHeaders: Set<String> = [], hsts: HSTSUpgrade? = nil
    ) {
        self.maximum = maximum
        self.allowsInsecure = allowsInsecure
        self.hsts = hsts
        self.sensitiveHeaders = SensitiveHeaders(sensitiveHeaders)
    }

    // MARK: From a response to a proposal

    /// What a response suggests to send next, without anything that must not go there.
    func proposal(after head: ResponseHead, to exchange: Exchange) throws(TransportError) -> RedirectProposal {
        let redirect = FailureContext(head: head, from: exchange.url)
        let locations = Set(head.values(for: .location).filter { !$0.isEmpty })
        guard let location = locations.first, locations.count == 1 else {
            throw redirect.failure(.invalidRedirect, to: nil, "names several places at once")
        }
        guard !location.utf8.contains(UInt8(ascii: "\\")) else {
            throw redirect.failure(.invalidRedirect, to: location, "has a backslash, which can be read in two ways")
        }
        var target = URLReference(location).resolved(against: URLReference(exchange.url))
        let schemes = exchange.policies.redirectSchemes
        if let scheme = target.scheme.flatMap({ schemes[$0.lowercased()] }) { target.scheme = scheme[...] }
        if let authority = target.authority, let at = authority.utf8.firstIndex(of: UInt8(ascii: "@")) {
            let host = authority[authority.utf8.index(after: at)...]
            guard !host.utf8.contains(UInt8(ascii: "@")) else {
                throw redirect.failure(.invalidRedirect, to: location, "has two @ before the path")
            }
            target.authority = host
        }
        // RFC 9110, section 10.2.2.
        if target.fragment == nil { target.fragment = exchange.fragment.map { $0[...] } }
        guard let url = URL(target) else {
            throw redirect.failure(.invalidRedirect, to: location, "is no URL")
        }
        let (method, keepsBody) = Self.method(after: head.status, to: exchange.request.method)
        var proposal = RedirectProposal(
            response: head, url: url, location: target, method: method, fields: exchange.request.headerFields,
            body: keepsBody ? exchange.body : .none, originalMethod: exchange.request.method,
            originalBody: exchange.body)
        // An address that nothing can be sent to may still be one that somebody wants to be asked about.
        if let target = try? RequestTarget(url) {
            clean(&proposal.fields, of: proposal, to: HTTPRequest(method, target), from: exchange.request)
        }
        return proposal
    }

    /// RFC 9110, sections 15.4.2 to 15.4.4 and 15.4.8: a POST has become a GET for so long that it is the rule.
    private static func method(
        after status: Int, to method: HTTPRequest.Method
    ) -> (method: HTTPRequest.Method, keepsBody: Bool) {
        switch status {
        case 303 where method != .head && method != .get: (.get, false)
        case 301 where method == .post, 302 where method == .post: (.get, false)
        default: (method, true)
        }
    }

    // MARK: From a proposal to the next exchange

    /// What is sent next, if that may be.
    ///
    /// - Parameter hasLeft: Whether a redirect before led away from the first origin. What must not leave it does not come
    ///   back either, even if somebody who was asked has put it in again.
    func exchange(
        after proposal: RedirectProposal, to exchange: Exchange, hasLeft: Bool = false
    ) throws(TransportError) -> Exchange {
        let redirect = FailureContext(head: proposal.response, from: exchange.url)
        let place = proposal.url.absoluteString
        let target: RequestTarget
        do {
            target = try RequestTarget(proposal.url, writtenAs: proposal.location)
        } catch {
            throw redirect.failure(.invalidRedirect, to: place, "cannot be followed: \(error)")
        }
        let request = HTTPRequest(proposal.method, target)
        let upgraded = hsts?.upgraded(request)
        guard allowsInsecure || upgraded != nil || target.scheme == "https" || exchange.request.scheme != "https" else {
            throw redirect.failure(
                .insecureRedirect, to: place,
                "leaves a secure connection; the session's allowsInsecureRedirects would allow that")
        }
        if case .stream(let stream) = proposal.body, stream.isSpent {
            throw redirect.failure(
                .requestBodyFailed, to: place, "asks for the body again, which is a stream that can be read once")
        }
        var next = exchange
        next.request = upgraded ?? request
        next.request.headerFields = proposal.fields
        next.fragment = proposal.url.fragmentAsWritten
        next.body = proposal.body
        clean(&next.request.headerFields, of: proposal, to: next.request, from: exchange.request, hasLeft: hasLeft)
        let defaults = exchange.options.defaultFields.fields
        var kept = defaults
        clean(&kept, of: proposal, to: next.request, from: exchange.request, hasLeft: hasLeft)
        if kept.count < defaults.count { next.options.defaultFields = DefaultFields(kept) }
        if next.hasPolicies, Origin(next.request) != Origin(exchange.request) { next.policies.credential = nil }
        return next
    }

    /// Takes out what must not go from one request to the other.
    private func clean(
        _ fields: inout HTTPFields, of proposal: RedirectProposal, to next: HTTPRequest, from last: HTTPRequest,
        hasLeft: Bool = false
    ) {
        let leaves = hasLeft || Origin(next) != Origin(last)
        // RFC 9110, section 10.1.3.
        let losesReferer = last.scheme == "https" && next.scheme != "https"
        let losesBody = proposal.body.isNone && (!proposal.originalBody.isNone || next.method != last.method)
        func mustGo(_ name: HTTPField.Name) -> Bool {
            leaves && (name.canonicalName == "host" || sensitiveHeaders.contains(name.rawName))
                || losesReferer && name == .referer
                || losesBody && (Self.aboutBody.contains(name) || name.canonicalName.hasPrefix("content-"))
        }
        guard fields.contains(where: { mustGo($0.name) }) else { return }
        fields = HTTPFields(fields.filter { !mustGo($0.name) })
    }

    /// What an error about a redirect tells of it.
    private struct FailureContext {
        let head: ResponseHead
        let from: String

        func failure(_ code: TransportError.Code, to place: String?, _ message: String) -> TransportError {
            let place = place.map { " to \(Redaction.standard.url($0).prefix(1_000))" } ?? ""
            return TransportError(
                code, phase: .receiving, url: from,
                message: "the redirect (\(head.status)) from \(from)\(place) \(message)")
        }
    }
}

extension HTTPRequest {
    fileprivate init(_ method: Method, _ target: RequestTarget) {
        self.init(method: method, scheme: target.scheme, authority: target.authority, path: target.path)
    }
}

extension [HTTPField.Name?] {
    fileprivate var compactSet: Set<HTTPField.Name> { Set(compactMap { $0 }) }
}
