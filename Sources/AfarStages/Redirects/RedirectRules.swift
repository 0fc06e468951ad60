import Foundation
import HTTPTypes

/// The rules for redirects. They create the next request from a response and its request, and remove fields that aren't forwarded.
package struct RedirectRules: Sendable {
    /// The maximum number of redirects in one exchange. The default is 20.
    package var maximum: Int
    /// Whether redirects from https to http are allowed. The default is false.
    package var allowsInsecure: Bool
    /// Upgrades requests to hosts that require https; nil if there are no such hosts.
    private let hsts: HSTSUpgrade?
    /// The headers that aren't forwarded to other origins. `Host` isn't forwarded either, because it names the original host.
    private let sensitiveHeaders: SensitiveHeaders

    /// Fields that describe a body and are removed with it (RFC 9110, section 15.4), in addition to those that begin with
    /// `Content-`.
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

    /// Returns the request that a response suggests, without the fields that aren't forwarded.
    func proposal(after head: ResponseHead, to exchange: Exchange) throws(TransportError) -> RedirectProposal {
        let redirect = FailureContext(head: head, from: exchange.url)
        let locations = Set(head.values(for: .location).filter { !$0.isEmpty })
        guard let location = locations.first, locations.count == 1 else {
            throw redirect.failure(.invalidRedirect, to: nil, "has several different locations")
        }
        guard !location.utf8.contains(UInt8(ascii: "\\")) else {
            throw redirect.failure(.invalidRedirect, to: location, "has a backslash, which makes the URL ambiguous")
        }
        var target = URLReference(location).resolved(against: URLReference(exchange.url))
        let schemes = exchange.policies.redirectSchemes
        if let scheme = target.scheme.flatMap({ schemes[$0.lowercased()] }) { target.scheme = scheme[...] }
        if let authority = target.authority, let at = authority.utf8.firstIndex(of: UInt8(ascii: "@")) {
            let host = authority[authority.utf8.index(after: at)...]
            guard !host.utf8.contains(UInt8(ascii: "@")) else {
                throw redirect.failure(.invalidRedirect, to: location, "has two @ signs before the path")
            }
            target.authority = host
        }
        // RFC 9110, section 10.2.2.
        if target.fragment == nil { target.fragment = exchange.fragment.map { $0[...] } }
        guard let url = URL(target) else {
            throw redirect.failure(.invalidRedirect, to: location, "is not a valid URL")
        }
        let (method, keepsBody) = Self.method(after: head.status, to: exchange.request.method)
        var proposal = RedirectProposal(
            response: head, url: url, location: target, method: method, fields: exchange.request.headerFields,
            body: keepsBody ? exchange.body : .none, originalMethod: exchange.request.method,
            originalBody: exchange.body)
        // Redirect handlers are called even for an unusable URL.
        if let target = try? RequestTarget(url) {
            clean(&proposal.fields, of: proposal, to: HTTPRequest(method, target), from: exchange.request)
        }
        return proposal
    }

    /// Returns the method of the next request (RFC 9110, sections 15.4.2 to 15.4.4 and 15.4.8). By long-standing practice, 301 and 302
    /// change a POST to a GET.
    private static func method(
        after status: Int, to method: HTTPRequest.Method
    ) -> (method: HTTPRequest.Method, keepsBody: Bool) {
        switch status {
        case 303 where method != .head && method != .get: (.get, false)
        case 301 where method == .post, 302 where method == .post: (.get, false)
        default: (method, true)
        }
    }

    /// Returns the next exchange, if the redirect is allowed.
    ///
    /// - Parameter hasLeft: Whether a previous redirect left the first origin. If true, sensitive fields are removed even if a
    ///   handler added them again.
    func exchange(
        after proposal: RedirectProposal, to exchange: Exchange, hasLeft: Bool = false
    ) throws(TransportError) -> Exchange {
        let redirect = FailureContext(head: proposal.response, from: exchange.url)
        let destination = proposal.url.absoluteString
        let target: RequestTarget
        do {
            target = try RequestTarget(proposal.url, writtenAs: proposal.location)
        } catch {
            throw redirect.failure(.invalidRedirect, to: destination, "cannot be followed: \(error)")
        }
        let request = HTTPRequest(proposal.method, target)
        let upgraded = hsts?.upgraded(request, now: exchange.options.timeSource.now)
        guard allowsInsecure || upgraded != nil || target.scheme == "https" || exchange.request.scheme != "https" else {
            throw redirect.failure(
                .insecureRedirect, to: destination,
                "leads to an insecure connection: set the session's allowsInsecureRedirects to permit it")
        }
        if case .stream(let stream) = proposal.body, stream.isSpent {
            throw redirect.failure(
                .requestBodyFailed, to: destination,
                "requires the body again, which is a stream that can be read only once")
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

    /// Removes the fields that aren't forwarded from one request to the next.
    private func clean(
        _ fields: inout HTTPFields, of proposal: RedirectProposal, to next: HTTPRequest, from last: HTTPRequest,
        hasLeft: Bool = false
    ) {
        let leaves = hasLeft || Origin(next) != Origin(last)
        // RFC 9110, section 10.1.3.
        let losesReferer = last.scheme == "https" && next.scheme != "https"
        let losesBody = proposal.body.isNone && (!proposal.originalBody.isNone || next.method != last.method)
        func mustRemove(_ name: HTTPField.Name) -> Bool {
            leaves && (name.canonicalName == "host" || sensitiveHeaders.contains(name.rawName))
                || losesReferer && name == .referer
                || losesBody && (Self.aboutBody.contains(name) || name.canonicalName.hasPrefix("content-"))
        }
        guard fields.contains(where: { mustRemove($0.name) }) else { return }
        fields = HTTPFields(fields.filter { !mustRemove($0.name) })
    }

    /// The parts of a redirect that error messages contain.
    private struct FailureContext {
        let head: ResponseHead
        let from: String

        func failure(_ code: TransportError.Code, to destination: String?, _ message: String) -> TransportError {
            let destination = destination.map { " to \(Redaction.standard.url($0).prefix(1_000))" } ?? ""
            return TransportError(
                code, phase: .receiving, url: from,
                message: "the redirect (\(head.status)) from \(from)\(destination) \(message)")
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
