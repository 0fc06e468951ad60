import Foundation
import HTTPTypes

/// A stage that sends the cookies of a store, and stores the cookies that servers set (RFC 6265bis). Each hop uses the cookies of
/// its own URL.
///
/// A request that already has a `Cookie` field is sent unchanged. Cookies in a response from a cache are ignored, because they were stored
/// when the response arrived from the server.
package struct CookieStage: ExchangeStage {
    /// The servers whose cookies are stored.
    package enum AcceptPolicy: Sendable {
        case always
        case never
        /// Stores cookies only from the site of the request's main document, if the request specifies one.
        case onlyFromMainDocumentDomain
    }

    /// The maximum number of cookies that one response can set. The stage ignores further cookies.
    private static let limit = 200

    private let run: Run

    /// - Parameters:
    ///   - sends: Whether the stage sends cookies.
    ///   - accepts: The servers whose cookies are stored.
    package init(
        _ store: any CookieStore, rules: CookieRules, sends: Bool = true,
        accepts: AcceptPolicy = .onlyFromMainDocumentDomain
    ) {
        run = Run(store, rules, sends: sends, accepts)
    }

    package func begin(_ hop: Hop) -> (any StageRun)? {
        !hop.exchange.hasPolicies || hop.exchange.policies.cookies.isEnabled ? run : nil
    }

    /// One instance serves all exchanges.
    private final class Run: StageRun {
        private let store: any CookieStore
        private let rules: CookieRules
        private let sends: Bool
        private let policy: AcceptPolicy

        init(_ store: any CookieStore, _ rules: CookieRules, sends: Bool, _ policy: AcceptPolicy) {
            (self.store, self.rules, self.sends, self.policy) = (store, rules, sends, policy)
        }

        func before(_ hop: Hop) -> Reply<RequestAction> {
            guard sends, !store.isEmpty, !hop.exchange.hasCookieField else { return .now(.send) }
            let cookies = store.cookies(for: CookieURL(hop.exchange), now: hop.now)
            guard !cookies.isEmpty else { return .now(.send) }
            var exchange = hop.exchange
            // Add a single field. The subscript would create a field for each cookie (section 5.8.1).
            exchange.request.headerFields.append(HTTPField(name: .cookie, value: cookies.headerBytes))
            exchange.policies.cookies.hasStoredCookies = true
            return .now(.change(exchange))
        }

        func head(_ head: ResponseHead, of hop: Hop) -> Reply<ResponseAction> {
            guard !head.isStored, head.contains(.setCookie) else { return .now(.pass) }
            let (url, now) = (CookieURL(hop.exchange), hop.now)
            guard accepts(from: url, of: hop) else { return .now(.pass) }
            // Increasing creation dates preserve the order of arrival (section 5.8.3).
            let cookies = head.texts(for: .setCookie).prefix(CookieStage.limit).enumerated().compactMap {
                index, cookie in
                rules.cookie(
                    from: cookie.text, isLatin1: cookie.isLatin1, of: url,
                    now: now.addingTimeInterval(Double(index) * 0.000_001))
            }
            if !cookies.isEmpty { store.store(cookies, from: url, now: now) }
            return .now(.pass)
        }

        private func accepts(from url: CookieURL, of hop: Hop) -> Bool {
            switch policy {
            case .always: return true
            case .never: return false
            case .onlyFromMainDocumentDomain:
                guard let document = hop.exchange.policies.cookies.document else { return true }
                return rules.areSameSite(url, document)
            }
        }
    }
}

package struct CookieHandling: Sendable {
    package var isEnabled: Bool
    /// The main document that the request is made for; nil if the request doesn't specify one.
    package var document: CookieURL?
    /// Whether the `Cookie` field comes from a store rather than from the caller.
    var hasStoredCookies = false

    package init(isEnabled: Bool = true, document: CookieURL? = nil) {
        (self.isEnabled, self.document) = (isEnabled, document)
    }
}

extension Exchange {
    /// Whether the caller set the `Cookie` field.
    fileprivate var hasCookieField: Bool {
        request.headerFields.contains(.cookie) || options.defaultFields.fields.contains(.cookie)
    }
}
