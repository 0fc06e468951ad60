import Foundation
import HTTPTypes

/// A stage that sends the cookies of a store, and stores the cookies that servers set (RFC 6265bis). Each hop uses the cookies of
/// its own URL.
///
/// A request that already has a `Cookie` field is sent unchanged, unless the stage joins cookies. Cookies in a response from a cache are
/// ignored, because they were already stored when the response arrived from the server.
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
    ///   - joins: Whether the stage adds cookies to the `Cookie` field of a request. It omits cookies whose name is already in the field.
    ///   - accepts: The servers whose cookies are stored.
    package init(
        _ store: any CookieStore, rules: CookieRules, sends: Bool = true, joins: Bool = false,
        accepts: AcceptPolicy = .onlyFromMainDocumentDomain
    ) {
        run = Run(store, rules, sends: sends, joins: joins, accepts)
    }

    package func begin(_ hop: Hop) -> (any StageRun)? {
        !hop.exchange.hasPolicies || hop.exchange.policies.cookies.isEnabled ? run : nil
    }

    /// One instance serves all exchanges.
    private final class Run: StageRun {
        private let store: any CookieStore
        private let rules: CookieRules
        private let sends: Bool
        private let joins: Bool
        private let policy: AcceptPolicy

        init(_ store: any CookieStore, _ rules: CookieRules, sends: Bool, joins: Bool, _ policy: AcceptPolicy) {
            (self.store, self.rules, self.sends, self.joins, self.policy) = (store, rules, sends, joins, policy)
        }

        func before(_ hop: Hop) -> Reply<RequestAction> {
            guard sends, !store.isEmpty else { return .now(.send) }
            if hop.exchange.hasCookieField { return .now(joins ? join(hop) : .send) }
            let cookies = store.cookies(for: CookieURL(hop.exchange), now: hop.now)
            guard !cookies.isEmpty else { return .now(.send) }
            var exchange = hop.exchange
            // Add a single field. The subscript would create a field for each cookie (section 5.8.1).
            exchange.request.headerFields.append(HTTPField(name: .cookie, value: cookies.headerBytes))
            exchange.policies.cookies.hasStoredCookies = true
            return .now(.change(exchange))
        }

        /// Adds the cookies of the store to the cookies of the caller, in a single field (RFC 6265bis, section 5.8.1).
        private func join(_ hop: Hop) -> RequestAction {
            var exchange = hop.exchange
            let own = exchange.request.headerFields[fields: .cookie].filter { !$0.value.isEmpty }
            guard !own.isEmpty else { return .send }
            let names = Set(own.flatMap { $0.value.split(separator: ";").map(Self.name) })
            let stored = store.cookies(for: CookieURL(exchange), now: hop.now).filter { !names.contains($0.name) }
            guard !stored.isEmpty else { return .send }
            let values = own.map { $0.withUnsafeBytesOfValue { Array($0) } } + [stored.headerBytes]
            let value = [UInt8](values.joined(separator: "; ".utf8))
            exchange.request.headerFields[fields: .cookie] = [HTTPField(name: .cookie, value: value)]
            return .change(exchange)
        }

        /// Returns the name in `name=value`. It is empty if there is only a value.
        private static func name(ofPair pair: Substring) -> String {
            guard let sign = pair.firstIndex(of: "=") else { return "" }
            return pair[..<sign].trimmingCharacters(in: .whitespaces)
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
