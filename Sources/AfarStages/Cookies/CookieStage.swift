import Foundation
import HTTPTypes

/// Sends the cookies of a store, and stores what servers set (RFC 6265bis), for each hop by its own URL.
///
/// A request that has a `Cookie` field is sent as it is. A response that comes from a cache sets nothing: it did so when it came
/// from the server.
package struct CookieStage: ExchangeStage {
    /// Whose cookies are stored.
    package enum AcceptPolicy: Sendable {
        case always
        case never
        /// Those from the site of the document that the request is made for, if it names one.
        case onlyFromMainDocumentDomain
    }

    /// How many cookies one response may set; those after them are passed over.
    private static let limit = 200

    private let run: Run

    /// - Parameters:
    ///   - sends: Whether cookies are sent.
    ///   - accepts: Whose cookies are stored.
    package init(
        _ store: any CookieStore, rules: CookieRules, sends: Bool = true,
        accepts: AcceptPolicy = .onlyFromMainDocumentDomain
    ) {
        run = Run(store, rules, sends: sends, accepts)
    }

    package func begin(_ hop: Hop) -> (any StageRun)? {
        !hop.exchange.hasPolicies || hop.exchange.policies.cookies.isWanted ? run : nil
    }

    /// The same for all exchanges.
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
            let cookies = store.cookies(for: CookieURL(hop.exchange))
            guard !cookies.isEmpty else { return .now(.send) }
            var exchange = hop.exchange
            // One field; the subscript would make one of each cookie (section 5.8.1).
            exchange.request.headerFields.append(HTTPField(name: .cookie, value: cookies.headerBytes))
            exchange.policies.cookies.hasStoredCookies = true
            return .now(.change(exchange))
        }

        func head(_ head: ResponseHead, of hop: Hop) -> Reply<ResponseAction> {
            guard !head.isStored, head.contains(.setCookie) else { return .now(.pass) }
            let (url, now) = (CookieURL(hop.exchange), Date())
            guard accepts(from: url, of: hop) else { return .now(.pass) }
            // Each is created after the one before it, so that they are sent in the order of arrival (section 5.8.3).
            let cookies = head.texts(for: .setCookie).prefix(CookieStage.limit).enumerated().compactMap {
                index, cookie in
                rules.cookie(
                    from: cookie.text, isLatin1: cookie.isLatin1, of: url,
                    now: now.addingTimeInterval(Double(index) * 0.000_001))
            }
            if !cookies.isEmpty { store.store(cookies, from: url) }
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

/// What a request says about cookies.
package struct CookieHandling: Sendable {
    /// Whether cookies are sent and stored.
    package var isWanted: Bool
    /// The document that it is made for; nil when it names none.
    package var document: CookieURL?
    /// Whether the `Cookie` field is from a store, and not from the caller.
    var hasStoredCookies = false

    package init(isWanted: Bool = true, document: CookieURL? = nil) {
        (self.isWanted, self.document) = (isWanted, document)
    }
}

extension Exchange {
    /// Whether the caller has set the cookies himself.
    fileprivate var hasCookieField: Bool {
        request.headerFields.contains(.cookie) || options.defaultFields.fields.contains(.cookie)
    }
}
